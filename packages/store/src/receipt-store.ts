import type {
  EventKind,
  InputMode,
  InputStatus,
  OstlerEvent,
  Receipt,
  ReceiptChange,
  RefusalReason,
} from '@ostler/protocol';

/** What a request must bring to claim its idempotency key. */
export interface Reservation {
  /** The authenticated connection's device, never a field of a request. */
  readonly deviceId: string;
  readonly idempotencyKey: string;
  /** SHA-256 (hex) of the validated request; see `intentDigest` in `@ostler/protocol`. */
  readonly intentDigest: string;
  readonly operation: Receipt['operation'];
  readonly agentId: string;
  /** Size of the text in UTF-8. The text itself is never stored. */
  readonly textBytes?: number;
  /** The intended route and the first phase; left out where the operation has none. */
  readonly input?: InputStatus;
}

export type LookupResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'duplicate'; readonly receipt: Receipt }
  /** The key is taken by another intent: IDEMPOTENCY_CONFLICT. */
  | { readonly kind: 'conflict' };

export type ReserveResult =
  | { readonly kind: 'reserved'; readonly receipt: Receipt; readonly event: StoredEvent }
  | { readonly kind: 'duplicate'; readonly receipt: Receipt }
  | { readonly kind: 'conflict' }
  /** The device's ledger is full of receipts that may not leave: BACKPRESSURE. */
  | { readonly kind: 'backpressure' };

/** Written before the first byte goes to a terminal or a native door. */
export interface DispatchMark {
  readonly deliveryId: string;
  /** Frozen from here on. Left out where the receipt has no `input`. */
  readonly mode?: InputMode;
  /** The process the bytes go to: pid and the kernel's start time of it. Null for a native door. */
  readonly pid: number | null;
  readonly startTime: string | null;
  /** The engine's fingerprint (SHA-256, hex) a later process matches records by. */
  readonly fingerprint: string | null;
  readonly atMs: number;
  /** A step that begins right behind the mark: noted in the same transaction, as by `markStep`. */
  readonly beginning?: DispatchStep;
}

export type MarkResult =
  /** `event` is null where the mark left the receipt as it was. */
  | { readonly kind: 'marked'; readonly receipt: Receipt; readonly event: StoredEvent | null }
  /** Write nothing: the delivery isn't there, was dispatched before, or is no longer queued. */
  | {
      readonly kind: 'refused';
      readonly reason: 'not_found' | 'already_dispatched' | 'not_queued';
    };

/** A terminal operation of one delivery. `*_begun` is marked before the bytes, `*_written` after. */
export type DispatchStep = 'paste_begun' | 'paste_written' | 'enter_begun' | 'enter_written';

export interface StepRecord {
  readonly step: DispatchStep;
  readonly atMs: number;
}

/** A receipt with what the store knows beside it. */
export interface DeliveryRecord {
  readonly receipt: Receipt;
  /** Higher than that of every key taken before. */
  readonly ordinal: number;
  readonly deviceId: string;
  readonly textBytes: number | null;
  /** Null: nothing was ever written for this delivery. */
  readonly dispatch: DispatchMark | null;
  readonly steps: readonly StepRecord[];
}

export interface ReceiptQuery {
  /** True: neither completed nor rejected. */
  readonly unresolvedOnly: boolean;
  readonly agentId?: string;
  readonly maxCount: number;
}

/** An event with its audience. Only `event` crosses a process edge. */
export interface StoredEvent {
  readonly event: OstlerEvent;
  /** The one device that may see it, or null for every device. */
  readonly deviceId: string | null;
}

export interface NewEvent {
  readonly kind: EventKind;
  readonly agentId?: string;
  readonly payload: OstlerEvent['payload'];
  /** The one device that may see it; everyone where left out. */
  readonly deviceId?: string;
}

export type ApplyResult =
  | { readonly kind: 'applied'; readonly receipt: Receipt; readonly event: StoredEvent }
  /** The receipt says all of it already; no event. */
  | { readonly kind: 'unchanged'; readonly receipt: Receipt }
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason | 'not_found';
      readonly receipt: Receipt | null;
    };

/** An entry of an engine's record that was seen to be the input of a delivery. */
export interface ConsumedInput {
  readonly agentId: string;
  /** The engine's id of the consumed input. */
  readonly inputRef: string;
  readonly deliveryId: string;
  readonly fingerprint: string;
  readonly turnRef: string | null;
  /** The engine's time of the entry, Unix epoch. */
  readonly atMs: number;
}

export interface ConsumedInputs {
  /** Oldest first. */
  readonly inputs: readonly ConsumedInput[];
  /** Some from before this (Unix epoch) may have left. */
  readonly wholeSinceMs: number;
}

/** What another reading of an engine's record must know; committed with the changes it belongs to. */
export interface RecordMark {
  readonly consumed?: ConsumedInput;
  /** Our id of a turn whose end is told. */
  readonly endedTurnId?: string;
}

export type ApplyTogetherResult =
  | {
      readonly kind: 'applied';
      /** As the receipts stand now, in the order of the changes. */
      readonly receipts: readonly Receipt[];
      /** In the order to send: the receipts' events, then the given ones. */
      readonly events: readonly StoredEvent[];
    }
  | {
      readonly kind: 'refused';
      readonly deliveryId: string;
      readonly reason: RefusalReason | 'not_found';
    };

export interface EventCursor {
  readonly serverInstanceId: string;
  readonly eventId: number;
}

export type ReplayResult =
  | { readonly kind: 'events'; readonly events: readonly StoredEvent[] }
  | { readonly kind: 'resync'; readonly reason: 'instance_changed' | 'cursor_too_old' };

/**
 * The durable ledger. Every method is synchronous: when it has returned, what it
 * says is committed; when it throws, nothing of it happened.
 *
 * Durability: `reserve` and `markDispatch` are on the disk (fsync) before they
 * return, and so is everything committed before them. Other changes outlive the
 * death of the process at any instant, and a power cut may take back the last of
 * them, whole transactions only.
 *
 * Throws CodedError: STORE_FULL (no space; free some and call again), STORE_READ_ONLY,
 * STORE_CORRUPT, STORE_IO (the disk failed; after it every write throws until the
 * store is opened anew), STORE_CLOSED.
 */
export interface ReceiptStore extends Disposable {
  /** Stable for the life of the state directory. A UUIDv4. */
  readonly machineId: string;
  /** New at each open. A UUIDv4. */
  readonly serverInstanceId: string;

  /** The duplicate check alone, without a claim. `reserve` repeats it. */
  lookup(request: Pick<Reservation, 'deviceId' | 'idempotencyKey' | 'intentDigest'>): LookupResult;

  /**
   * Claims (deviceId, idempotencyKey) and mints the deliveryId; the receipt starts as
   * `queued`. Of any number of calls with one key exactly one is `reserved`, for as long as
   * the receipt is unresolved and for the retention (30 minutes) after it settled.
   * A throw means: not reserved, do not dispatch.
   */
  reserve(reservation: Reservation): ReserveResult;

  /**
   * Call before the first byte, and write only after `marked`: a delivery is marked once
   * in its life, so a second writer is refused. Without a mark a restart says `rejected`.
   */
  markDispatch(mark: DispatchMark): MarkResult;

  /** Notes a terminal operation of a marked delivery. False where there is no mark. */
  markStep(deliveryId: string, step: DispatchStep): boolean;

  /**
   * Moves a receipt, in one transaction with the `receipt.updated` event that announces it.
   * By rank: nothing moves down, and a change is applied whole or not at all. Once dispatched,
   * a change of mode is refused.
   */
  applyChange(deliveryId: string, change: ReceiptChange): ApplyResult;

  /**
   * Several changes and further events in one transaction: all or none. At most 64 changes. A
   * `turn.result` among the events is kept for `results`, and the transaction is on the disk
   * (fsync) before this returns. Throws RESULT_KNOWN where its resultId is kept already.
   */
  applyTogether(
    changes: readonly { readonly deliveryId: string; readonly change: ReceiptChange }[],
    events?: readonly NewEvent[],
    mark?: RecordMark,
  ): ApplyTogetherResult;

  /**
   * The results of the last 30 minutes that `deviceId` may see, 512 of all devices at most, in the
   * order they were committed, for a client that resynchronises. Envelopes carry the
   * serverInstanceId of now and the eventId they were committed with.
   */
  results(deviceId: string): readonly StoredEvent[];
  hasResult(resultId: string): boolean;
  /** What earlier readings of the agent's record found. */
  consumedInputs(agentId: string): ConsumedInputs;
  /** True where the turn's end has been told; of the 8,192 told last. */
  hasEnded(turnId: string): boolean;

  /** Null proves nothing: the receipt may have left. */
  getReceipt(deviceId: string, idempotencyKey: string): Receipt | null;
  getByDelivery(deliveryId: string): DeliveryRecord | null;
  /** Neither completed nor rejected, oldest first; of one agent where given. */
  listUnresolved(agentId?: string): readonly DeliveryRecord[];

  /** A device's receipts, newest first. */
  listReceipts(deviceId: string, query: ReceiptQuery): readonly Receipt[];

  /** A small value kept under a name of the caller's; null where none is. */
  setting(name: string): string | null;
  /** Keeps or, with null, forgets a value of at most 4,096 characters. Throws SETTING_TOO_LARGE. */
  setSetting(name: string, value: string | null): void;

  /**
   * Settles what earlier instances left in flight: without a dispatch mark `rejected`
   * (nothing was written), otherwise `unknown`; both with DAEMON_RESTART and their event.
   * A second call finds nothing. Call it before anything is served.
   */
  reconcileAfterRestart(): readonly { readonly receipt: Receipt; readonly event: StoredEvent }[];

  /** Commits an event that moves no receipt. Throws EVENT_TOO_LARGE over 32 KiB of payload. */
  appendEvent(event: NewEvent): StoredEvent;
  /** The newest event's cursor. `eventId` rises for the life of the state directory; 0: none yet. */
  cursor(): EventCursor;
  /**
   * Events after `cursor`, oldest first, for `deviceId` to see. A cursor of an earlier instance
   * of this store is good as long as the ring (500) reaches back to it. Envelopes carry the
   * serverInstanceId of now, so the last one is the next cursor.
   */
  replay(cursor: EventCursor, deviceId: string): ReplayResult;

  /** Closes the files and lets the lock go. Idempotent. */
  close(): void;
}
