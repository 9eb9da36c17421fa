export type { StoreLimits } from './limits.js';
export { openStore, type StoreOptions } from './open.js';
export type {
  ApplyResult,
  ApplyTogetherResult,
  ConsumedInput,
  ConsumedInputs,
  DeliveryRecord,
  DispatchMark,
  DispatchStep,
  EventCursor,
  LookupResult,
  MarkResult,
  NewEvent,
  RecordMark,
  ReceiptQuery,
  ReceiptStore,
  ReplayResult,
  Reservation,
  ReserveResult,
  StepRecord,
  StoredEvent,
} from './receipt-store.js';
export type { StoreError, StoreErrorCode } from './store-errors.js';
