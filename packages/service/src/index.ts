export {
  AgentSession,
  type AgentSessionOptions,
  type AgentState,
  type SessionTerminal,
} from './agent-session.js';
export type { LaunchAgentRequest } from './launch-agent.js';
export type { OperationContext, Reserved } from './operations/operation.js';
export { questionAnswer } from './operations/question-answer.js';
export { turnSend } from './operations/turn-send.js';
export { turnStop } from './operations/turn-stop.js';
export { ReceiptsLedger, type WaitResult } from './receipts-ledger.js';
export { Service, type ServiceOptions } from './service.js';
export type { ServiceEvents } from './service-events.js';
