export { canonicalJson, type JsonValue } from './canonical-json.js';
export {
  eventRingCount,
  idempotencyKeyPattern,
  inputStatusCapability,
  maxAnswersBytes,
  maxAnswersCount,
  maxCapabilitiesCount,
  maxColumnsCells,
  maxDeviceNameCharacters,
  maxEventPayloadBytes,
  maxFrameBytes,
  maxInputBytes,
  maxLaunchArgsCount,
  maxLaunchEnvCount,
  maxLaunchStringBytes,
  maxNameCharacters,
  maxRecapTurns,
  maxRowsCells,
  maxSubscriptionSec,
  maxSubscriptionsCount,
  maxTerminalFrameBytes,
  maxTextBytes,
  maxTokenCharacters,
  maxWaitMs,
  minColumnsCells,
  minRowsCells,
  protocolVersion,
  receiptsPerDeviceCount,
  settledRetentionMs,
  turnCorrelationCapability,
} from './constants.js';
export {
  type ListedReceiptErrorCode,
  type RequestErrorCode,
  receiptErrorMeaning,
  receiptErrorMeanings,
  requestErrorMeanings,
} from './error-codes.js';
export { eventPayloadSchemas, eventSchema } from './event-schemas.js';
export { everyPage, type Page } from './every-page.js';
export type {
  AgentSummary,
  EventKind,
  EventPayloads,
  EventQuestion,
  OstlerEvent,
} from './events.js';
export type { FocusState } from './focus-state.js';
export {
  createFrameSplitter,
  type FrameSplitter,
  type FrameSplitterOptions,
  frameOf,
  type SplitFrame,
} from './framing.js';
export { intentDigest } from './intent-digest.js';
export { type JsonSchema, jsonSchemas } from './json-schema.js';
export {
  type ParsedRequest,
  type ParseOptions,
  parseRequest,
  type RequestError,
} from './parse-request.js';
export type {
  DeliveryReason,
  EvidenceKind,
  InputMode,
  InputPhase,
  InputStatus,
  Receipt,
  ReceiptErrorCode,
  ReceiptState,
} from './receipt.js';
export {
  applyToReceipt,
  type ChangeResult,
  type ReceiptChange,
  type RefusalReason,
} from './receipt-change.js';
export { evidenceRank, isSettled, mayMove, phaseRank, receiptRank } from './receipt-rank.js';
export { inputStatusSchema, receiptSchema } from './receipt-schema.js';
export { requestSchemas } from './request-schemas.js';
export type {
  AgentAttachRequest,
  AgentCloseRequest,
  AgentDetachRequest,
  AgentInputRequest,
  AgentLaunchRequest,
  AgentResizeRequest,
  AgentScreenRequest,
  AgentSessionsRequest,
  AgentSizeRequest,
  DeviceAddRequest,
  DeviceListRequest,
  DeviceRevokeRequest,
  LocalRequest,
  ReceiptResolveRequest,
  ServerStatusRequest,
} from './local-requests.js';
export { resultSchemas, resyncSchema, terminalFrameSchema } from './result-schemas.js';
export type {
  AgentEngineSession,
  DeviceSummary,
  EngineCertificate,
  HostSummary,
  OperationResults,
  RecapTurn,
  ResultOf,
  ResyncFrame,
  ScreenReading,
  TerminalFrame,
} from './results.js';
export type {
  AgentSubscribeRequest,
  AgentsListRequest,
  AgentUnsubscribeRequest,
  FocusGetRequest,
  FocusSetRequest,
  HelloRequest,
  Operation,
  OstlerRequest,
  PairRevokeRequest,
  QuestionAnswerRequest,
  RecapRequest,
  ReceiptGetRequest,
  ReceiptsListRequest,
  ReceiptWaitRequest,
  RequestOf,
  StatusRequest,
  StreamKind,
  TurnSendRequest,
  TurnStopRequest,
  WaitUntil,
} from './requests.js';
export { fitsUtf8, isBlank, isWellFormed, utf8Bytes } from './text-rules.js';
export {
  correlationOf,
  fitsTurnResult,
  maxTurnResultBytes,
  maxTurnResultMembers,
  type TurnCorrelation,
  type TurnResult,
  type TurnResultMember,
  turnResultRetentionMs,
  turnResultSchema,
  turnResultsKeptCount,
} from './turn-correlation.js';
export {
  type StreamFrame,
  streamFrameSchema,
  type TurnSummary,
  type TurnTool,
} from './turn-payloads.js';
