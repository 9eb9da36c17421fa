import {
  applyToReceipt,
  eventRingCount,
  isSettled,
  type Receipt,
  type ReceiptChange,
  receiptsPerDeviceCount,
  settledRetentionMs,
  type TurnResult,
  turnResultRetentionMs,
  turnResultsKeptCount,
} from '@ostler/protocol';
import { type Clock, CodedError, type Ids } from '@ostler/runtime';
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
} from '@ostler/store';
import { afterRestart, isSameEntry, type MemoryDisk, type Row } from './memory-disk.js';

const maxStepsCount = 16;
const earlyLeaversPerDeviceCount = 8192;
const eventIdGapCount = 1024;

/**
 * The receipt store without its file: the same answers as the real one, which a test compares
 * call by call. For worlds of which there are thousands a minute.
 */
export class MemoryReceiptStore implements ReceiptStore {
  readonly machineId: string;
  readonly serverInstanceId: string;
  readonly #disk: MemoryDisk;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #firstEventId: number;
  #reconciled = false;
  #closed = false;

  constructor(options: { readonly disk: MemoryDisk; readonly clock: Clock; readonly ids: Ids }) {
    const { disk } = options;
    this.#disk = disk;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.machineId = disk.machineId;
    this.serverInstanceId = options.ids.uuid();
    const used = Math.max(disk.newestEventId, disk.newestFirstEventId);
    this.#firstEventId = used === 0 ? 1 : used + eventIdGapCount;
    disk.newestFirstEventId = this.#firstEventId;
    disk.instances.push({ id: this.serverInstanceId, lastEventBefore: disk.newestEventId });
    for (const row of [...disk.rows.values()]) if (this.#isExpired(row)) this.#remove(row);
  }

  lookup(request: Pick<Reservation, 'deviceId' | 'idempotencyKey' | 'intentDigest'>): LookupResult {
    this.#assertOpen();
    const row = this.#byKey(request.deviceId, request.idempotencyKey);
    if (!row || this.#isExpired(row)) return { kind: 'none' };
    if (row.intentDigest !== request.intentDigest) return { kind: 'conflict' };
    return { kind: 'duplicate', receipt: row.receipt };
  }

  reserve(reservation: Reservation): ReserveResult {
    const found = this.lookup(reservation);
    if (found.kind !== 'none') return found;
    const { deviceId, idempotencyKey, intentDigest } = reservation;
    for (const row of [...this.#disk.rows.values()]) {
      if (row.deviceId === deviceId && this.#isExpired(row)) this.#remove(row);
    }
    if (!this.#makeRoom(deviceId)) return { kind: 'backpressure' };
    const receipt: Receipt = {
      idempotencyKey,
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
    this.#disk.newestOrdinal += 1;
    this.#disk.rows.set(receipt.deliveryId, {
      receipt,
      ordinal: this.#disk.newestOrdinal,
      deviceId,
      intentDigest,
      textBytes: reservation.textBytes ?? null,
      dispatch: null,
      steps: [],
      leftEarly: false,
    });
    this.#disk.deliveryByKey.set(keyOf(deviceId, idempotencyKey), receipt.deliveryId);
    return { kind: 'reserved', receipt, event };
  }

  markDispatch(mark: DispatchMark): MarkResult {
    this.#assertOpen();
    const row = this.#disk.rows.get(mark.deliveryId);
    if (!row) return { kind: 'refused', reason: 'not_found' };
    if (row.dispatch) return { kind: 'refused', reason: 'already_dispatched' };
    if (row.receipt.state !== 'queued') return { kind: 'refused', reason: 'not_queued' };
    const { beginning, ...dispatch } = mark;
    row.dispatch = dispatch;
    if (beginning !== undefined) row.steps.push({ step: beginning, atMs: this.#clock.nowMs() });
    const { input } = row.receipt;
    const changed = input !== undefined && mark.mode !== undefined && mark.mode !== input.mode;
    if (!changed) return { kind: 'marked', receipt: row.receipt, event: null };
    row.receipt = {
      ...row.receipt,
      at: this.#clock.nowMs(),
      input: { ...input, mode: mark.mode },
    };
    return {
      kind: 'marked',
      receipt: row.receipt,
      event: this.#announce(row.receipt, row.deviceId),
    };
  }

  markStep(deliveryId: string, step: DispatchStep): boolean {
    this.#assertOpen();
    const row = this.#disk.rows.get(deliveryId);
    if (!row?.dispatch || row.steps.length >= maxStepsCount) return false;
    row.steps.push({ step, atMs: this.#clock.nowMs() });
    return true;
  }

  applyChange(deliveryId: string, change: ReceiptChange): ApplyResult {
    this.#assertOpen();
    const row = this.#disk.rows.get(deliveryId);
    if (!row) return { kind: 'refused', reason: 'not_found', receipt: null };
    const mode = change.input?.mode;
    if (row.dispatch && mode !== undefined && mode !== row.receipt.input?.mode) {
      return { kind: 'refused', reason: 'mode', receipt: row.receipt };
    }
    const result = applyToReceipt(row.receipt, change, this.#clock.nowMs());
    if (result.kind === 'refused') return { ...result, receipt: row.receipt };
    if (result.kind === 'unchanged') return result;
    row.receipt = result.receipt;
    return {
      kind: 'applied',
      receipt: row.receipt,
      event: this.#announce(row.receipt, row.deviceId),
    };
  }

  applyTogether(
    changes: readonly { readonly deliveryId: string; readonly change: ReceiptChange }[],
    events: readonly NewEvent[] = [],
    mark: RecordMark = {},
  ): ApplyTogetherResult {
    this.#assertOpen();
    const results = events.filter(({ kind }) => kind === 'turn.result');
    const ids = results.map(({ payload }) => (payload as unknown as TurnResult).resultId);
    if (ids.some((id) => this.hasResult(id))) {
      throw new CodedError('RESULT_KNOWN', 'this result is kept already; it is never changed');
    }
    const latest = new Map<string, Receipt>();
    const receipts: Receipt[] = [];
    const moved: { readonly row: Row; readonly receipt: Receipt }[] = [];
    for (const { deliveryId, change } of changes) {
      const row = this.#disk.rows.get(deliveryId);
      if (!row) return { kind: 'refused', deliveryId, reason: 'not_found' };
      const receipt = latest.get(deliveryId) ?? row.receipt;
      const mode = change.input?.mode;
      if (row.dispatch && mode !== undefined && mode !== receipt.input?.mode) {
        return { kind: 'refused', deliveryId, reason: 'mode' };
      }
      const result = applyToReceipt(receipt, change, this.#clock.nowMs());
      if (result.kind === 'refused') return { ...result, deliveryId };
      latest.set(deliveryId, result.receipt);
      receipts.push(result.receipt);
      if (result.kind === 'applied') moved.push({ row, receipt: result.receipt });
    }
    const stored = moved.map(({ row, receipt }) => {
      row.receipt = receipt;
      return this.#announce(receipt, row.deviceId);
    });
    for (const event of events) {
      const told = this.appendEvent(event);
      stored.push(told);
      if (event.kind === 'turn.result') {
        this.#disk.results.push({ stored: told, atMs: this.#clock.nowMs() });
        if (this.#disk.results.length > turnResultsKeptCount) this.#disk.results.shift();
      }
    }
    const { consumed, endedTurnId } = mark;
    if (consumed && !this.#disk.consumed.some((known) => isSameEntry(known, consumed))) {
      this.#disk.consumed.push(consumed);
    }
    if (endedTurnId !== undefined) this.#disk.endedTurns.add(endedTurnId);
    return { kind: 'applied', receipts, events: stored };
  }

  results(deviceId: string): readonly StoredEvent[] {
    this.#assertOpen();
    const { serverInstanceId } = this;
    return this.#disk.results
      .filter(({ atMs }) => atMs > this.#clock.nowMs() - turnResultRetentionMs)
      .filter(({ stored }) => stored.deviceId === deviceId)
      .map(({ stored }) => ({ ...stored, event: { ...stored.event, serverInstanceId } }));
  }

  hasResult(resultId: string): boolean {
    this.#assertOpen();
    return this.#disk.results.some(
      ({ stored }) => (stored.event.payload as unknown as TurnResult).resultId === resultId,
    );
  }

  consumedInputs(agentId: string): ConsumedInputs {
    this.#assertOpen();
    const inputs = this.#disk.consumed.filter((input) => input.agentId === agentId);
    return { inputs, wholeSinceMs: 0 };
  }

  hasEnded(turnId: string): boolean {
    this.#assertOpen();
    return this.#disk.endedTurns.has(turnId);
  }

  getReceipt(deviceId: string, idempotencyKey: string): Receipt | null {
    this.#assertOpen();
    const row = this.#byKey(deviceId, idempotencyKey);
    return !row || row.leftEarly || this.#isExpired(row) ? null : row.receipt;
  }

  getByDelivery(deliveryId: string): DeliveryRecord | null {
    this.#assertOpen();
    const row = this.#disk.rows.get(deliveryId);
    return row ? recordOf(row) : null;
  }

  listUnresolved(agentId?: string): readonly DeliveryRecord[] {
    this.#assertOpen();
    return [...this.#disk.rows.values()]
      .filter(({ receipt }) => !isSettled(receipt.state))
      .filter(({ receipt }) => agentId === undefined || receipt.agentId === agentId)
      .map(recordOf);
  }

  listReceipts(deviceId: string, query: ReceiptQuery): readonly Receipt[] {
    this.#assertOpen();
    return [...this.#disk.rows.values()]
      .reverse()
      .filter(
        (row) =>
          row.deviceId === deviceId &&
          !row.leftEarly &&
          !this.#isExpired(row) &&
          !(query.unresolvedOnly && isSettled(row.receipt.state)) &&
          (query.agentId === undefined || row.receipt.agentId === query.agentId),
      )
      .slice(0, query.maxCount)
      .map(({ receipt }) => receipt);
  }

  setting(name: string): string | null {
    this.#assertOpen();
    return this.#disk.settings.get(name) ?? null;
  }

  setSetting(name: string, value: string | null): void {
    this.#assertOpen();
    if (value === null) this.#disk.settings.delete(name);
    else this.#disk.settings.set(name, value);
  }

  reconcileAfterRestart(): readonly { readonly receipt: Receipt; readonly event: StoredEvent }[] {
    this.#assertOpen();
    if (this.#reconciled) return [];
    this.#reconciled = true;
    return [...this.#disk.rows.values()]
      .filter(
        ({ receipt }) =>
          !isSettled(receipt.state) &&
          receipt.state !== 'unknown' &&
          receipt.serverInstanceId !== this.serverInstanceId,
      )
      .map((row) => {
        row.receipt = afterRestart(row, this.#clock.nowMs());
        return { receipt: row.receipt, event: this.#announce(row.receipt, row.deviceId) };
      });
  }

  appendEvent(event: NewEvent): StoredEvent {
    this.#assertOpen();
    const { serverInstanceId, machineId } = this;
    const { kind, payload, agentId } = event;
    const eventId = Math.max(this.#firstEventId, this.#disk.newestEventId + 1);
    const stored: StoredEvent = {
      deviceId: event.deviceId ?? null,
      event: {
        type: 'event',
        eventId,
        serverInstanceId,
        machineId,
        ...(agentId === undefined ? {} : { agentId }),
        kind,
        payload,
      },
    };
    this.#disk.newestEventId = eventId;
    this.#disk.events.push(stored);
    if (this.#disk.events.length > eventRingCount) this.#disk.events.shift();
    return stored;
  }

  cursor(): EventCursor {
    return { serverInstanceId: this.serverInstanceId, eventId: this.#disk.newestEventId };
  }

  replay(cursor: EventCursor, deviceId: string): ReplayResult {
    const newest = this.#newestKnownTo(cursor.serverInstanceId);
    if (newest === null || cursor.eventId > newest) {
      return { kind: 'resync', reason: 'instance_changed' };
    }
    const { events } = this.#disk;
    if (cursor.eventId < (events[0]?.event.eventId ?? 1) - 1) {
      return { kind: 'resync', reason: 'cursor_too_old' };
    }
    const { serverInstanceId } = this;
    const seen = events
      .filter(({ event }) => event.eventId > cursor.eventId)
      .filter((stored) => stored.deviceId === null || stored.deviceId === deviceId)
      .map(({ event, deviceId }) => ({ deviceId, event: { ...event, serverInstanceId } }));
    return { kind: 'events', events: seen };
  }

  close(): void {
    this.#closed = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #assertOpen(): void {
    if (this.#closed) throw new CodedError('STORE_CLOSED', 'the store was closed; open it again');
  }

  #newestKnownTo(serverInstanceId: string): number | null {
    if (serverInstanceId === this.serverInstanceId) return this.#disk.newestEventId;
    const { instances } = this.#disk;
    const at = instances.findIndex(({ id }) => id === serverInstanceId);
    return at < 0 ? null : (instances[at + 1]?.lastEventBefore ?? null);
  }

  #byKey(deviceId: string, idempotencyKey: string): Row | undefined {
    const deliveryId = this.#disk.deliveryByKey.get(keyOf(deviceId, idempotencyKey));
    return deliveryId === undefined ? undefined : this.#disk.rows.get(deliveryId);
  }

  #announce(receipt: Receipt, deviceId: string): StoredEvent {
    const { agentId } = receipt;
    return this.appendEvent({ kind: 'receipt.updated', agentId, deviceId, payload: { receipt } });
  }

  #makeRoom(deviceId: string): boolean {
    const rows = [...this.#disk.rows.values()].filter((row) => row.deviceId === deviceId);
    const inLedger = rows.filter(({ leftEarly }) => !leftEarly);
    if (inLedger.length < receiptsPerDeviceCount) return true;
    if (rows.length - inLedger.length >= earlyLeaversPerDeviceCount) return false;
    const [oldest] = inLedger
      .filter(({ receipt }) => isSettled(receipt.state))
      .sort((one, other) => one.receipt.at - other.receipt.at);
    if (!oldest) return false;
    oldest.leftEarly = true;
    return true;
  }

  #remove(row: Row): void {
    this.#disk.rows.delete(row.receipt.deliveryId);
    this.#disk.deliveryByKey.delete(keyOf(row.deviceId, row.receipt.idempotencyKey));
  }

  #isExpired({ receipt }: Row): boolean {
    return isSettled(receipt.state) && receipt.at <= this.#clock.nowMs() - settledRetentionMs;
  }
}

const keyOf = (deviceId: string, idempotencyKey: string): string =>
  `${deviceId}\u0000${idempotencyKey}`;

function recordOf(row: Row): DeliveryRecord {
  const { receipt, ordinal, deviceId, textBytes, dispatch, steps } = row;
  return { receipt, ordinal, deviceId, textBytes, dispatch, steps: [...steps] };
}
