export { AgentSession, type AgentState } from './agent-session.js';
export type { LaunchAgentRequest } from './launch-agent.js';
export type { Reserved } from './operations/operation.js';
export type { WaitResult } from './receipts-ledger.js';
export { Service, type ServiceOptions } from './service.js';
export type { ServiceEvents } from './service-events.js';
