export { canonicalJson, type JsonValue } from './canonical-json.js';
export {
  eventRingCount,
  idempotencyKeyPattern,
  inputStatusCapability,
  maxAnswersBytes,
  maxAnswersCount,
  maxColumnsCells,
  maxEventPayloadBytes,
  maxFrameBytes,
  maxLaunchArgsCount,
  maxLaunchEnvCount,
  maxLaunchStringBytes,
  maxNameCharacters,
  maxRowsCells,
  maxTextBytes,
  maxWaitMs,
  minColumnsCells,
  minRowsCells,
  protocolVersion,
  receiptsPerDeviceCount,
  settledRetentionMs,
} from './constants.js';
export {
  type ListedReceiptErrorCode,
  type RequestErrorCode,
  receiptErrorMeaning,
  receiptErrorMeanings,
  requestErrorMeanings,
} from './error-codes.js';
export { eventPayloadSchemas, eventSchema } from './event-schemas.js';
export type {
  AgentSummary,
  EventKind,
  EventPayloads,
  EventQuestion,
  OstlerEvent,
} from './events.js';
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
  AgentCloseRequest,
  AgentLaunchRequest,
  AgentResizeRequest,
  Operation,
  OstlerRequest,
  QuestionAnswerRequest,
  ReceiptGetRequest,
  ReceiptWaitRequest,
  RequestOf,
  TurnSendRequest,
  TurnStopRequest,
  WaitUntil,
} from './requests.js';
export { fitsUtf8, isBlank, isWellFormed, utf8Bytes } from './text-rules.js';
