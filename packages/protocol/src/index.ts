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
