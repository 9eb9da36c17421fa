export type { CallGroups } from './call-groups.js';
export {
  type ConnectClientOptions,
  connectClient,
  OstlerClient,
  terminalAttachCapability,
} from './client.js';
export { ClientError, type ClientErrorCode, type RequestOutcome } from './client-error.js';
export { beforeAllEvents, type ResumePoint } from './cursor.js';
export type {
  ClientEvent,
  ClientListeners,
  ConnectionNews,
  EventFilter,
  EventOf,
  UnreadableEvent,
} from './event-hub.js';
export {
  type ClientLimits,
  defaultClientLimits,
  defaultReconnectLimits,
  type ReconnectLimits,
} from './limits.js';
export { type FollowResultsOptions, ResultFollower } from './follow-results.js';
export type {
  OwnKey,
  ResultInboxStorage,
  ResultRef,
  StoredResult,
  Utterance,
  UtteranceState,
} from './inbox-storage.js';
export { MemoryInboxStorage } from './memory-inbox-storage.js';
export {
  type AskReceipt,
  defaultResultInboxLimits,
  type InboxEffect,
  type InboxRefusal,
  ResultInbox,
  type ResultInboxLimits,
  type ResultInboxOptions,
  type SpeakEffect,
} from './result-inbox.js';
export type { CallableOperation, FieldsOf } from './operations.js';
export { TerminalAttachment, type TerminalPiece } from './terminal-attachment.js';
export type {
  ClientTransport,
  ClientTransportSink,
  ConnectOptions,
  Connector,
} from './transport.js';
export {
  type WebSocketConstructor,
  type WebSocketLike,
  type WebSocketOptions,
  webSocketConnector,
} from './web-socket.js';
