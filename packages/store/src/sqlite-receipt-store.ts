import {
  applyToReceipt,
  phaseRank,
  type Receipt,
  type ReceiptChange,
  type RefusalReason,
  type TurnResult,
} from '@ostler/protocol';
import type { Clock, Ids } from '@ostler/runtime';
import type { StoreDatabase } from './database.js';
import { DispatchJournal } from './dispatch-journal.js';
import { EventLog, type Instance } from './events.js';
import type { StoreLimits } from './limits.js';
import type {
  ApplyResult,
  ApplyTogetherResult,
  ConsumedInputs,
  DeliveryRecord,
  DispatchMark,
  DispatchStep,
  EventCursor,
  LookupResult,
  MarkResult,
  NewEvent,
  ReceiptQuery,
  ReceiptStore,
  RecordMark,
  ReplayResult,
  Reservation,
  ReserveResult,
  StoredEvent,
} from './receipt-store.js';
import { bounded, type ReceiptRow, ReceiptTable, receiptOf } from './receipts.js';
import { RecordMarks } from './record-marks.js';
import { ResultTable } from './results.js';
import { Settings } from './settings.js';
import { storeError } from './store-errors.js';

/** What the store is made of; `hold` is let go with it. */
export interface StoreParts {
  readonly database: StoreDatabase;
  readonly instance: Instance;
  readonly limits: StoreLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hold: Disposable;
}

const maxChangesTogetherCount = 64;

type Planned =
  | { readonly kind: 'applied' | 'unchanged'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly reason: RefusalReason | 'not_found' };

export class SqliteReceiptStore implements ReceiptStore {
  readonly machineId: string;
  readonly serverInstanceId: string;
  readonly #database: StoreDatabase;
  readonly #limits: StoreLimits;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #hold: Disposable;
  readonly #receipts: ReceiptTable;
  readonly #journal: DispatchJournal;
  readonly #events: EventLog;
  readonly #results: ResultTable;
  readonly #marks: RecordMarks;
  readonly #settings: Settings;
  #reconciled = false;

  constructor(parts: StoreParts) {
    this.machineId = parts.instance.machineId;
    this.serverInstanceId = parts.instance.serverInstanceId;
    this.#database = parts.database;
    this.#limits = parts.limits;
    this.#clock = parts.clock;
    this.#ids = parts.ids;
    this.#hold = parts.hold;
    this.#receipts = new ReceiptTable(parts.database);
    parts.database.onTakenBack(() => this.#receipts.forgetCounts());
    this.#journal = new DispatchJournal(parts.database);
    this.#settings = new Settings(parts.database);
    this.#results = new ResultTable(parts.database, parts.instance);
    this.#marks = new RecordMarks(parts.database);
    this.#events = new EventLog(parts.database, parts.instance, parts.limits.eventRingCount);
  }

  lookup(request: Pick<Reservation, 'deviceId' | 'idempotencyKey' | 'intentDigest'>): LookupResult {
    return this.#database.read(() => {
      const row = this.#receipts.byKey(request.deviceId, request.idempotencyKey);
      if (row === undefined || this.#isExpired(row)) return { kind: 'none' };
      if (row.intent_digest !== request.intentDigest) return { kind: 'conflict' };
      return { kind: 'duplicate', receipt: receiptOf(row) };
    });
  }

  reserve(reservation: Reservation): ReserveResult {
    const found = this.lookup(reservation);
    if (found.kind !== 'none') return found;
    return this.#database.transact('disk', () => {
      const { deviceId } = reservation;
      this.#receipts.removeExpired(deviceId, this.#expiredBeforeMs());
      if (!this.#makeRoom(deviceId)) return { kind: 'backpressure' };
      const receipt: Receipt = {
        idempotencyKey: reservation.idempotencyKey,
        deliveryId: this.#ids.uuid(),
        operation: reservation.operation,
        state: 'queued',
        machineId: this.machineId,
        agentId: reservation.agentId,
        serverInstanceId: this.serverInstanceId,
        turnId: null,
        error: null,
        at: this.#clock.nowMs(),
        ...(reservation.input === undefined ? {} : { input: reservation.input }),
      };
      const event = this.#announce(receipt, deviceId);
      const textBytes = reservation.textBytes ?? null;
      const { intentDigest } = reservation;
      this.#receipts.insert(receipt, { deviceId, intentDigest, textBytes }, event.event.eventId);
      return { kind: 'reserved', receipt, event };
    });
  }

  markDispatch(mark: DispatchMark): MarkResult {
    return this.#database.transact('disk', () => {
      const row = this.#receipts.byDelivery(mark.deliveryId);
      if (row === undefined) return { kind: 'refused', reason: 'not_found' };
      if (row.dispatched === 1) return { kind: 'refused', reason: 'already_dispatched' };
      if (row.state !== 'queued') return { kind: 'refused', reason: 'not_queued' };
      const before = receiptOf(row);
      const changed =
        before.input !== undefined && mark.mode !== undefined && mark.mode !== before.input.mode;
      const receipt: Receipt = changed
        ? { ...before, at: this.#clock.nowMs(), input: { ...before.input, mode: mark.mode } }
        : before;
      this.#receipts.setDispatched(row);
      this.#journal.mark(row, mark);
      if (mark.beginning !== undefined) {
        this.#journal.step(mark.deliveryId, mark.beginning, this.#clock.nowMs());
      }
      return { kind: 'marked', receipt, event: changed ? this.#commit(row, receipt) : null };
    });
  }

  markStep(deliveryId: string, step: DispatchStep): boolean {
    return this.#database.transact('process', () =>
      this.#journal.step(deliveryId, step, this.#clock.nowMs()),
    );
  }

  applyChange(deliveryId: string, change: ReceiptChange): ApplyResult {
    return this.#database.transact('process', () => {
      const row = this.#receipts.byDelivery(deliveryId);
      if (row === undefined) return { kind: 'refused', reason: 'not_found', receipt: null };
      const planned = this.#plan(row, receiptOf(row), change);
      if (planned.kind === 'refused') return { ...planned, receipt: receiptOf(row) };
      const { receipt } = planned;
      if (planned.kind === 'unchanged') return { kind: 'unchanged', receipt };
      return { kind: 'applied', receipt, event: this.#commit(row, receipt) };
    });
  }

  applyTogether(
    changes: readonly { readonly deliveryId: string; readonly change: ReceiptChange }[],
    events: readonly NewEvent[] = [],
    mark: RecordMark = {},
  ): ApplyTogetherResult {
    if (changes.length > maxChangesTogetherCount || events.length > maxChangesTogetherCount) {
      throw storeError(
        'TOO_MANY_CHANGES',
        `at most ${maxChangesTogetherCount} changes and as many events go together`,
        null,
      );
    }
    const hasResult = events.some(({ kind }) => kind === 'turn.result');
    return this.#database.transact(hasResult ? 'disk' : 'process', () => {
      const latest = new Map<string, Receipt>();
      const steps: { row: ReceiptRow; receipt: Receipt; moved: boolean }[] = [];
      for (const { deliveryId, change } of changes) {
        const row = this.#receipts.byDelivery(deliveryId);
        if (row === undefined) return { kind: 'refused', deliveryId, reason: 'not_found' };
        const planned = this.#plan(row, latest.get(deliveryId) ?? receiptOf(row), change);
        if (planned.kind === 'refused') return { ...planned, deliveryId };
        latest.set(deliveryId, planned.receipt);
        steps.push({ row, receipt: planned.receipt, moved: planned.kind === 'applied' });
      }
      const stored: StoredEvent[] = [];
      for (const { row, receipt, moved } of steps) {
        if (moved) stored.push(this.#commit(row, receipt));
      }
      for (const event of events) stored.push(this.#append(event));
      if (mark.consumed !== undefined) this.#marks.consume(mark.consumed);
      if (mark.endedTurnId !== undefined) this.#marks.end(mark.endedTurnId);
      return { kind: 'applied', receipts: steps.map(({ receipt }) => receipt), events: stored };
    });
  }

  results(deviceId: string): readonly StoredEvent[] {
    return this.#database.read(() => this.#results.ofDevice(deviceId, this.#clock.nowMs()));
  }

  hasResult(resultId: string): boolean {
    return this.#database.read(() => this.#results.has(resultId));
  }

  consumedInputs(agentId: string): ConsumedInputs {
    return this.#database.read(() => this.#marks.consumedBy(agentId));
  }

  hasEnded(turnId: string): boolean {
    return this.#database.read(() => this.#marks.hasEnded(turnId));
  }

  getReceipt(deviceId: string, idempotencyKey: string): Receipt | null {
    return this.#database.read(() => {
      const row = this.#receipts.byKey(deviceId, idempotencyKey);
      return row === undefined || row.left_early === 1 || this.#isExpired(row)
        ? null
        : receiptOf(row);
    });
  }

  getByDelivery(deliveryId: string): DeliveryRecord | null {
    return this.#database.read(() => {
      const row = this.#receipts.byDelivery(deliveryId);
      return row === undefined ? null : this.#recordOf(row);
    });
  }

  listUnresolved(agentId?: string): readonly DeliveryRecord[] {
    return this.#database.read(() =>
      this.#receipts.unresolved(agentId).map((row) => this.#recordOf(row)),
    );
  }

  listReceipts(deviceId: string, query: ReceiptQuery): readonly Receipt[] {
    return this.#database.read(() =>
      this.#receipts
        .newestOf(deviceId, query)
        .filter((row) => !this.#isExpired(row))
        .map(receiptOf),
    );
  }

  setting(name: string): string | null {
    return this.#database.read(() => this.#settings.get(name));
  }

  setSetting(name: string, value: string | null): void {
    this.#database.transact('process', () => this.#settings.set(name, value));
  }

  reconcileAfterRestart(): readonly { readonly receipt: Receipt; readonly event: StoredEvent }[] {
    if (this.#reconciled) return [];
    const settled = this.#database.transact('disk', () =>
      this.#receipts.inFlightBefore(this.serverInstanceId).map((row) => {
        const receipt = this.#afterRestart(row);
        return { receipt, event: this.#commit(row, receipt) };
      }),
    );
    this.#reconciled = true;
    return settled;
  }

  appendEvent(event: NewEvent): StoredEvent {
    return this.#database.transact('process', () => this.#events.append(event));
  }

  cursor(): EventCursor {
    return this.#database.read(() => this.#events.cursor());
  }

  replay(cursor: EventCursor, deviceId: string): ReplayResult {
    return this.#database.read(() => this.#events.replay(cursor, deviceId));
  }

  close(): void {
    this.#database.close();
    this.#hold[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #append(event: NewEvent): StoredEvent {
    const stored = this.#events.append(event);
    if (event.kind === 'turn.result') this.#keepResult(stored);
    return stored;
  }

  #keepResult(stored: StoredEvent): void {
    const { resultId } = stored.event.payload as unknown as TurnResult;
    if (this.#results.has(resultId)) {
      throw storeError('RESULT_KNOWN', 'this result is kept already; it is never changed', null);
    }
    this.#results.keep(stored, this.#clock.nowMs());
  }

  /** True once the ledger has room for one more. */
  #makeRoom(deviceId: string): boolean {
    const { receiptsPerDeviceCount, earlyLeaversPerDeviceCount } = this.#limits;
    while (this.#receipts.counts(deviceId).ledger >= receiptsPerDeviceCount) {
      // One that left early still guards its key; with no room for the guard nobody may leave.
      if (this.#receipts.counts(deviceId).early >= earlyLeaversPerDeviceCount) return false;
      if (!this.#receipts.oldestSettledLeaves(deviceId)) return false;
    }
    return true;
  }

  #plan(row: ReceiptRow, current: Receipt, change: ReceiptChange): Planned {
    const mode = change.input?.mode;
    if (row.dispatched === 1 && mode !== undefined && mode !== current.input?.mode) {
      return { kind: 'refused', reason: 'mode' };
    }
    const result = applyToReceipt(current, change, this.#clock.nowMs());
    return result.kind === 'applied' ? { ...result, receipt: bounded(result.receipt) } : result;
  }

  /** Writes the receipt and the event that announces it. */
  #commit(row: ReceiptRow, receipt: Receipt): StoredEvent {
    const event = this.#announce(receipt, row.device_id);
    this.#receipts.update(receipt, event.event.eventId);
    return event;
  }

  #announce(receipt: Receipt, deviceId: string): StoredEvent {
    const { agentId } = receipt;
    return this.#events.append({
      kind: 'receipt.updated',
      agentId,
      deviceId,
      payload: { receipt },
    });
  }

  #afterRestart(row: ReceiptRow): Receipt {
    const before = receiptOf(row);
    const { input } = before;
    const waiting = input === undefined || phaseRank(input.phase) === 0;
    const untouched = row.dispatched === 0 && before.state === 'queued' && waiting;
    const change: ReceiptChange = untouched
      ? {
          state: 'rejected',
          error: {
            code: 'DAEMON_RESTART',
            message: 'the server was restarted before anything was written; send it again',
          },
        }
      : {
          state: 'unknown',
          error: {
            code: 'DAEMON_RESTART',
            message: 'the server was restarted after the dispatch; later evidence may settle it',
          },
          ...(input === undefined || input.phase === 'accepted'
            ? {}
            : { input: { phase: 'unconfirmed' } }),
        };
    const result = applyToReceipt(before, change, this.#clock.nowMs());
    if (result.kind !== 'applied') throw new Error(`a restart can't settle ${row.delivery_id}`);
    return result.receipt;
  }

  #recordOf(row: ReceiptRow): DeliveryRecord {
    return {
      receipt: receiptOf(row),
      ordinal: row.ordinal,
      deviceId: row.device_id,
      textBytes: row.text_bytes,
      dispatch: this.#journal.markOf(row),
      steps: this.#journal.stepsOf(row),
    };
  }

  #expiredBeforeMs(): number {
    return this.#clock.nowMs() - this.#limits.settledRetentionMs;
  }

  #isExpired(row: ReceiptRow): boolean {
    return row.settled === 1 && row.at_ms <= this.#expiredBeforeMs();
  }
}
