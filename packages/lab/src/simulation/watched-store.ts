import type { Receipt, ReceiptChange, TurnResult } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
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

export interface StoreWatch {
  readonly reserved: (receipt: Receipt) => void;
  readonly receiptIs: (receipt: Receipt) => void;
  readonly resultIs: (result: TurnResult, deviceId: string | null) => void;
  readonly journalled: (deliveryId: string) => void;
  /** Something has been committed. The process may die here. */
  readonly committed: (agentId: string | null) => void;
}

/** A store whose disk may fill up, and whose process may die after any commit. */
export class WatchedStore implements ReceiptStore {
  readonly #store: ReceiptStore;
  readonly #watch: StoreWatch;
  /** Writes that will fail. */
  failing = 0;
  #dead = false;

  constructor(store: ReceiptStore, watch: StoreWatch) {
    this.#store = store;
    this.#watch = watch;
  }

  get machineId(): string {
    return this.#store.machineId;
  }

  get serverInstanceId(): string {
    return this.#store.serverInstanceId;
  }

  die(): void {
    this.#dead = true;
    this.#store.close();
  }

  lookup(request: Pick<Reservation, 'deviceId' | 'idempotencyKey' | 'intentDigest'>): LookupResult {
    this.#assertAlive();
    return this.#store.lookup(request);
  }

  reserve(reservation: Reservation): ReserveResult {
    this.#beforeWrite();
    const result = this.#store.reserve(reservation);
    if (result.kind === 'reserved') {
      this.#watch.reserved(result.receipt);
      this.#committed(reservation.agentId);
    }
    return result;
  }

  markDispatch(mark: DispatchMark): MarkResult {
    this.#beforeWrite();
    const result = this.#store.markDispatch(mark);
    if (result.kind === 'marked') {
      this.#watch.receiptIs(result.receipt);
      this.#watch.journalled(mark.deliveryId);
      this.#committed(result.receipt.agentId);
    }
    return result;
  }

  markStep(deliveryId: string, step: DispatchStep): boolean {
    this.#beforeWrite();
    const marked = this.#store.markStep(deliveryId, step);
    if (step.endsWith('_begun')) this.#watch.journalled(deliveryId);
    this.#committed(null);
    return marked;
  }

  applyChange(deliveryId: string, change: ReceiptChange): ApplyResult {
    this.#beforeWrite();
    const result = this.#store.applyChange(deliveryId, change);
    if (result.kind === 'applied') {
      this.#watch.receiptIs(result.receipt);
      this.#committed(result.receipt.agentId);
    }
    return result;
  }

  applyTogether(
    changes: readonly { readonly deliveryId: string; readonly change: ReceiptChange }[],
    events?: readonly NewEvent[],
    mark?: RecordMark,
  ): ApplyTogetherResult {
    this.#beforeWrite();
    const result = this.#store.applyTogether(changes, events, mark);
    if (result.kind === 'applied') {
      for (const receipt of result.receipts) this.#watch.receiptIs(receipt);
      for (const { event, deviceId } of result.events) {
        if (event.kind !== 'turn.result') continue;
        this.#watch.resultIs(event.payload as unknown as TurnResult, deviceId);
      }
      this.#committed(result.receipts[0]?.agentId ?? events?.[0]?.agentId ?? null);
    }
    return result;
  }

  results(deviceId: string): readonly StoredEvent[] {
    this.#assertAlive();
    return this.#store.results(deviceId);
  }

  hasResult(resultId: string): boolean {
    this.#assertAlive();
    return this.#store.hasResult(resultId);
  }

  consumedInputs(agentId: string): ConsumedInputs {
    this.#assertAlive();
    return this.#store.consumedInputs(agentId);
  }

  hasEnded(turnId: string): boolean {
    this.#assertAlive();
    return this.#store.hasEnded(turnId);
  }

  getReceipt(deviceId: string, idempotencyKey: string): Receipt | null {
    this.#assertAlive();
    return this.#store.getReceipt(deviceId, idempotencyKey);
  }

  getByDelivery(deliveryId: string): DeliveryRecord | null {
    this.#assertAlive();
    return this.#store.getByDelivery(deliveryId);
  }

  listUnresolved(agentId?: string): readonly DeliveryRecord[] {
    this.#assertAlive();
    return this.#store.listUnresolved(agentId);
  }

  listReceipts(deviceId: string, query: ReceiptQuery): readonly Receipt[] {
    this.#assertAlive();
    return this.#store.listReceipts(deviceId, query);
  }

  setting(name: string): string | null {
    this.#assertAlive();
    return this.#store.setting(name);
  }

  setSetting(name: string, value: string | null): void {
    this.#beforeWrite();
    this.#store.setSetting(name, value);
  }

  reconcileAfterRestart(): readonly { readonly receipt: Receipt; readonly event: StoredEvent }[] {
    const settled = this.#store.reconcileAfterRestart();
    for (const { receipt } of settled) this.#watch.receiptIs(receipt);
    return settled;
  }

  appendEvent(event: NewEvent): StoredEvent {
    this.#beforeWrite();
    return this.#store.appendEvent(event);
  }

  cursor(): EventCursor {
    return this.#store.cursor();
  }

  replay(cursor: EventCursor, deviceId: string): ReplayResult {
    return this.#store.replay(cursor, deviceId);
  }

  close(): void {
    this.#store.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #assertAlive(): void {
    if (this.#dead) throw new CodedError('PROCESS_DEAD', 'this process has ended');
  }

  #beforeWrite(): void {
    this.#assertAlive();
    if (this.failing <= 0) return;
    this.failing -= 1;
    throw new CodedError('STORE_FULL', 'no space is left; free some and call again');
  }

  /** What runs after the death of its process runs no further. */
  #committed(agentId: string | null): void {
    this.#watch.committed(agentId);
    this.#assertAlive();
  }
}
