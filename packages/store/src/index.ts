export type { StoreLimits } from './limits.js';
export { openStore, type StoreOptions } from './open.js';
export type {
  ApplyResult,
  ApplyTogetherResult,
  DeliveryRecord,
  DispatchMark,
  DispatchStep,
  EventCursor,
  LookupResult,
  MarkResult,
  NewEvent,
  ReceiptQuery,
  ReceiptStore,
  ReplayResult,
  Reservation,
  ReserveResult,
  StepRecord,
  StoredEvent,
} from './receipt-store.js';
export type { StoreError, StoreErrorCode } from './store-errors.js';
