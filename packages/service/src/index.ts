export {
  AgentSession,
  type AgentSessionOptions,
  type AgentState,
  type SessionTerminal,
} from './agent-session.js';
export {
  type AdoptedTerminal,
  inProcessTerminals,
  type LaunchAgentRequest,
  type OpenedTerminal,
  type SessionRecord,
  type TerminalSource,
} from './launch-agent.js';
export type { OperationContext, Reserved } from './operations/operation.js';
export { questionAnswer } from './operations/question-answer.js';
export { turnSend } from './operations/turn-send.js';
export { turnStop } from './operations/turn-stop.js';
export { ReceiptsLedger, type WaitResult } from './receipts-ledger.js';
export { type LeftNote, restoredInputs } from './restored-inputs.js';
export { Service, type ServiceOptions } from './service.js';
export type { ServiceEvents } from './service-events.js';
export type { StreamMessage } from './streams.js';
