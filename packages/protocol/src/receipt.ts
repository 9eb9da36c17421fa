/** What a receipt says of its request. Rank only ever rises; see `receiptRank`. */
export type ReceiptState =
  | 'queued'
  | 'delivered'
  | 'started'
  | 'unknown'
  | 'completed'
  | 'rejected';

/** The route an input takes into the engine. Frozen when the dispatch is journalled. */
export type InputMode = 'direct' | 'steering' | 'native_queue' | 'native_input' | 'daemon_queue';

/** How far the input has come. `accepted` is never completion. */
export type InputPhase =
  | 'waiting_for_writer'
  | 'waiting_for_user'
  | 'waiting_for_turn'
  | 'submitted'
  | 'accepted'
  | 'unconfirmed';

/** Which observation raised the phase, newest first in meaning: the record outranks the screen. */
export type EvidenceKind = 'composer_left' | 'queue_shown' | 'hook' | 'record' | 'native';

export interface InputStatus {
  readonly mode: InputMode;
  readonly phase: InputPhase;
  /** The reason of a wait, by the hold's name. */
  readonly hold?: string;
  /** The observation the phase rests on. */
  readonly evidence?: EvidenceKind;
}

export type ReceiptErrorCode =
  | 'NOT_CONFIRMED'
  | 'OVERLAPPING_INPUTS'
  | 'RESULT_EVIDENCE_MISSING'
  | 'RESULT_NOT_COMPLETED'
  | 'TURN_INTERRUPTED'
  | 'AGENT_GONE'
  | 'DAEMON_RESTART'
  | 'REVOKED'
  | 'INTERNAL'
  | DeliveryReason;

/** Why a delivery ended the way it did; a hold's name is legal too. */
export type DeliveryReason =
  | 'agent_gone'
  | 'queue_full'
  | 'queue_expired'
  | 'cancelled'
  | 'runtime_gone_pre_paste'
  | 'runtime_gone_post_paste'
  | 'paste_failed'
  | 'enter_withheld'
  | `enter_withheld:${string}`
  | 'dispatch_ambiguous'
  | 'input_acceptance_unconfirmed'
  | 'not_submitted'
  | 'prompt_mismatch'
  | 'cancelled_after_paste'
  | 'body_refused'
  | (string & {});

export interface Receipt {
  readonly idempotencyKey: string;
  readonly deliveryId: string;
  readonly operation: 'turn.send' | 'turn.stop' | 'question.answer';
  readonly state: ReceiptState;
  readonly machineId: string;
  readonly agentId: string;
  /** The instance the receipt was born in. */
  readonly serverInstanceId: string;
  /** Ours, minted when a start is observed. */
  readonly turnId: string | null;
  readonly error: { readonly code: ReceiptErrorCode; readonly message: string } | null;
  /** Milliseconds since the Unix epoch of the last change. */
  readonly at: number;
  readonly input?: InputStatus;
}
