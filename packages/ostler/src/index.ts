export { Agent, type AgentScreen, type AgentStatus } from './agent.js';
export {
  createOstler,
  Ostler,
  type OstlerOptions,
  type QuestionAnswerOptions,
  type ReceiptWaitOptions,
  type TurnSendOptions,
} from './create-ostler.js';
export type { LaunchOptions } from './launch-options.js';
