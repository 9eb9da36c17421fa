import type { ReceiptChange as InputChange } from '@ostler/controller';
import type { EventKind, Receipt, ReceiptChange, WaitUntil } from '@ostler/protocol';
import { type Clock, CodedError, type Emitter, type Logger, type Timer } from '@ostler/runtime';
import type {
  ConsumedInput,
  ConsumedInputs,
  DeliveryRecord,
  DispatchMark,
  NewEvent,
  ReceiptStore,
  Reservation,
  StoredEvent,
} from '@ostler/store';
import { type EndedTurn, endEvents, makeResult, tooLarge } from './results.js';
import type { ServiceEvents } from './service-events.js';
import { hasReached } from './wait-goal.js';

export interface WaitResult {
  readonly receipt: Receipt;
  readonly waitEnded: 'reached' | 'timeout';
}

/** Something observed, to be committed. */
interface UnsavedChange {
  /** What it is about, for the log. */
  readonly about: Readonly<Record<string, unknown>>;
  /** False where the store can't take it now. */
  readonly save: () => boolean;
}

interface DeliveryChange {
  readonly deliveryId: string;
  readonly change: ReceiptChange;
}

/** An input that was seen to be consumed, in the turn `turnId`. */
export interface StartedInput {
  readonly change: ReceiptChange;
  readonly turnId: string;
  readonly consumed: ConsumedInput;
}

/** A transaction takes 64 changes; more at one end are no group, and the first of them go ahead. */
const maxTogether = 60;

/** Changes kept while the store can't take them, and how often they are offered again. */
const maxUnsavedChanges = 2_048;
const saveAgainMs = 1_000;

/**
 * Receipts and their events: committed first, told afterwards. What the store can't
 * take (a full disk) is kept in order and offered again; until then the receipt says
 * what was last committed.
 */
export class ReceiptsLedger implements Disposable {
  readonly #store: ReceiptStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: Emitter<ServiceEvents>;
  readonly #watchers = new Set<(receipt: Receipt) => void>();
  readonly #unsaved: UnsavedChange[] = [];
  #retry: Timer | null = null;
  #lastTold: Receipt | null = null;

  constructor(options: {
    readonly store: ReceiptStore;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly events: Emitter<ServiceEvents>;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#events = options.events;
  }

  lookup(request: Parameters<ReceiptStore['lookup']>[0]): Receipt | null {
    const found = this.#store.lookup(request);
    if (found.kind === 'conflict') throw conflict();
    return found.kind === 'duplicate' ? found.receipt : null;
  }

  /**
   * Claims the key. Throws CodedError IDEMPOTENCY_CONFLICT, BACKPRESSURE, or the store's
   * own; a throw means that nothing was claimed and nothing may be written.
   */
  reserve(reservation: Reservation): {
    readonly status: 'accepted' | 'duplicate';
    readonly receipt: Receipt;
  } {
    const result = this.#store.reserve(reservation);
    switch (result.kind) {
      case 'reserved':
        this.#tell(result.event, result.receipt);
        return { status: 'accepted', receipt: result.receipt };
      case 'duplicate':
        return { status: 'duplicate', receipt: result.receipt };
      case 'conflict':
        throw conflict();
      case 'backpressure':
        throw new CodedError(
          'BACKPRESSURE',
          'every receipt of this device is unresolved; wait for some to settle',
        );
    }
  }

  /** Throws where the delivery may not be written. */
  markDispatch(mark: DispatchMark): void {
    const result = this.#store.markDispatch(mark);
    if (result.kind === 'refused') {
      throw new CodedError('DISPATCH_REFUSED', `this delivery is ${result.reason}`);
    }
    if (result.event) this.#tell(result.event, result.receipt);
  }

  markStep(deliveryId: string, step: Parameters<ReceiptStore['markStep']>[1]): void {
    this.#store.markStep(deliveryId, step);
  }

  /** Applies one observation. Never throws: what can't be saved now is saved later, in order. */
  change(deliveryId: string, change: ReceiptChange): void {
    this.#commit({ about: { deliveryId }, save: () => this.#saveChange(deliveryId, change) });
  }

  /** Applies to each unresolved delivery of an agent what `changeOf` says of it. Like `change`. */
  changeEach(agentId: string, changeOf: (record: DeliveryRecord) => ReceiptChange | null): void {
    const save = (): boolean => {
      for (const record of this.#store.listUnresolved(agentId)) {
        const change = changeOf(record);
        if (change) this.#saveChange(record.receipt.deliveryId, change);
      }
      return true;
    };
    this.#commit({ about: { agentId }, save });
  }

  /**
   * An input was seen to be consumed: its receipt, `turn.started` and what another reading of the
   * record must know of it, together. Like `change`.
   */
  started(start: StartedInput): void {
    const { change, consumed } = start;
    const { deliveryId } = consumed;
    this.#commit({
      about: { deliveryId },
      save: () => this.#saveStart(start, [{ deliveryId, change }]),
    });
  }

  /**
   * A turn ended: its members' receipts, its result and `turn.done` in one transaction, and all of
   * it told behind that. A receipt that says something else for good is no member. Like `change`.
   */
  endTurn(turn: EndedTurn): void {
    this.#commit({ about: { turnId: turn.turnId }, save: () => this.#saveEnd(turn) });
  }

  /** The device's results of the last 30 minutes, oldest first. */
  results(deviceId: string): readonly StoredEvent[] {
    return this.#store.results(deviceId);
  }

  /** What earlier readings of the agent's record found. */
  consumedInputs(agentId: string): ConsumedInputs {
    return this.#store.consumedInputs(agentId);
  }

  /** Commits an event that moves no receipt, and tells it. */
  announce<Kind extends Exclude<keyof ServiceEvents, 'event' | 'receipt.updated'>>(
    kind: Kind & EventKind,
    agentId: string | null,
    payload: Readonly<Record<string, unknown>>,
  ): void {
    try {
      const stored = this.#store.appendEvent({ kind, payload, ...(agentId ? { agentId } : {}) });
      this.#events.emit('event', stored);
    } catch (failure) {
      this.#logger.error(
        { kind, failure },
        'an event could not be committed; it is told here only',
      );
    }
    this.#events.emit(kind, { ...payload, ...(agentId ? { agentId } : {}) } as never);
  }

  /** `receipt` as it stands now. */
  latest(deviceId: string, receipt: Receipt): Receipt {
    const told = this.#lastTold;
    // Nothing has been told since, or of this one last: the disk need not be asked.
    if (told?.deliveryId === receipt.deliveryId) return told;
    return this.get(deviceId, receipt.idempotencyKey) ?? receipt;
  }

  /** Neither completed nor rejected, of one agent, oldest first. */
  unresolved(agentId: string): readonly DeliveryRecord[] {
    return this.#store.listUnresolved(agentId);
  }

  /** Higher than that of every delivery taken before it; null where it is not known any more. */
  ordinalOf(deliveryId: string): number | null {
    return this.#store.getByDelivery(deliveryId)?.ordinal ?? null;
  }

  get(deviceId: string, idempotencyKey: string): Receipt | null {
    return this.#store.getReceipt(deviceId, idempotencyKey);
  }

  /** Waiting changes nothing. Throws CodedError RECEIPT_NOT_FOUND, or the signal's reason. */
  async wait(
    deviceId: string,
    idempotencyKey: string,
    until: WaitUntil,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<WaitResult> {
    signal?.throwIfAborted();
    const first = this.get(deviceId, idempotencyKey);
    if (!first) {
      throw new CodedError('RECEIPT_NOT_FOUND', 'no receipt has this key; that proves nothing');
    }
    if (hasReached(first, until)) return { receipt: first, waitEnded: 'reached' };
    return await new Promise<WaitResult>((resolve, reject) => {
      const end = (settle: () => void): void => {
        timer[Symbol.dispose]();
        this.#watchers.delete(watcher);
        signal?.removeEventListener('abort', abort);
        settle();
      };
      const watcher = (receipt: Receipt): void => {
        if (receipt.deliveryId !== first.deliveryId || !hasReached(receipt, until)) return;
        end(() => resolve({ receipt, waitEnded: 'reached' }));
      };
      const abort = (): void => end(() => reject(signal?.reason));
      const timer = this.#clock.setTimer(timeoutMs, () =>
        end(() =>
          resolve({ receipt: this.get(deviceId, idempotencyKey) ?? first, waitEnded: 'timeout' }),
        ),
      );
      this.#watchers.add(watcher);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#retry?.[Symbol.dispose]();
    this.#saveAgain();
    this.#retry?.[Symbol.dispose]();
    this.#watchers.clear();
  }

  #commit(unsaved: UnsavedChange): void {
    if (this.#unsaved.length > 0 || !this.#save(unsaved)) this.#keep(unsaved);
  }

  #save({ about, save }: UnsavedChange): boolean {
    try {
      return save();
    } catch (failure) {
      this.#logger.error({ ...about, failure }, 'not saved; trying again');
      return false;
    }
  }

  #saveChange(deliveryId: string, change: ReceiptChange): boolean {
    const result = this.#store.applyChange(deliveryId, change);
    if (result.kind === 'applied') this.#tell(result.event, result.receipt);
    else if (result.kind === 'refused') {
      this.#logger.debug({ deliveryId, reason: result.reason }, 'a receipt did not move');
    }
    return true;
  }

  #saveStart({ consumed, turnId }: StartedInput, changes: readonly DeliveryChange[]): boolean {
    const { agentId, deliveryId } = consumed;
    const payload = { turnId, deliveryIds: [deliveryId] };
    const started: NewEvent = { kind: 'turn.started', agentId, payload };
    const result = this.#store.applyTogether(changes, [started], { consumed });
    if (result.kind === 'applied') {
      this.#tellAll(result.events);
      return true;
    }
    this.#logger.debug({ deliveryId, reason: result.reason }, 'a receipt did not move');
    return this.#saveStart({ consumed, turnId, change: {} }, []);
  }

  #saveEnd(turn: EndedTurn): boolean {
    const { agentId, turnId } = turn;
    const { changes, events } = this.#planEnd(turn);
    // Of a turn that an earlier reading has told the end of, only what is new is told.
    const ending = this.#store.hasEnded(turnId) ? [] : endEvents(turn);
    if (changes.length === 0 && events.length + ending.length === 0) return true;
    const [together, first] = [changes.slice(-maxTogether), changes.slice(0, -maxTogether)];
    for (const { deliveryId, change } of first) this.#saveChange(deliveryId, change);
    const result = this.#store.applyTogether(together, [...events, ...ending], {
      endedTurnId: turnId,
    });
    if (result.kind === 'applied') {
      this.#tellAll(result.events);
      return true;
    }
    const { deliveryId, reason } = result;
    this.#logger.debug({ agentId, deliveryId, reason }, 'a receipt did not move');
    const deliveries = turn.deliveries.filter((delivery) => delivery.deliveryId !== deliveryId);
    return this.#saveEnd({ ...turn, deliveries });
  }

  /** The receipts' changes, and the result where there is one to send. */
  #planEnd(turn: EndedTurn): {
    readonly changes: readonly DeliveryChange[];
    readonly events: readonly NewEvent[];
  } {
    const members = turn.deliveries
      .filter(({ isMember }) => isMember)
      .flatMap(({ deliveryId }) => this.#store.getByDelivery(deliveryId) ?? []);
    const made = makeResult(turn, members);
    const isTooLarge = made.kind === 'withheld' && made.reason === 'too_large';
    const changes = turn.deliveries.map(({ change, deliveryId, isMember }): DeliveryChange => {
      const lost = isTooLarge && isMember && change.state === 'completed';
      return { deliveryId, change: lost ? tooLarge : storedChange(change, null) };
    });
    if (made.kind === 'withheld') {
      const { agentId, turnId } = turn;
      if (members.length > 0) {
        this.#logger.info({ agentId, turnId, reason: made.reason }, 'a result is withheld');
      }
      return { changes, events: [] };
    }
    const { deviceId, result } = made;
    if (this.#store.hasResult(result.resultId)) return { changes, events: [] };
    const payload = { ...result };
    const event: NewEvent = { kind: 'turn.result', agentId: turn.agentId, deviceId, payload };
    return { changes, events: [event] };
  }

  #tellAll(events: readonly StoredEvent[]): void {
    for (const stored of events) {
      const { agentId, kind, payload } = stored.event;
      if (kind === 'receipt.updated') {
        this.#tell(stored, (payload as { readonly receipt: Receipt }).receipt);
        continue;
      }
      this.#events.emit('event', stored);
      this.#events.emit(kind, { ...payload, ...(agentId ? { agentId } : {}) } as never);
    }
  }

  #keep(unsaved: UnsavedChange): void {
    if (this.#unsaved.length >= maxUnsavedChanges) {
      this.#logger.error(unsaved.about, 'too many unsaved changes; one is lost');
      return;
    }
    this.#unsaved.push(unsaved);
    if (!this.#retry?.active) {
      this.#retry = this.#clock.setTimer(saveAgainMs, () => this.#saveAgain());
    }
  }

  #saveAgain(): void {
    for (let next = this.#unsaved[0]; next; next = this.#unsaved[0]) {
      if (!this.#save(next)) {
        this.#retry = this.#clock.setTimer(saveAgainMs, () => this.#saveAgain());
        return;
      }
      this.#unsaved.shift();
    }
  }

  #tell(event: StoredEvent, receipt: Receipt): void {
    this.#lastTold = receipt;
    this.#events.emit('event', event);
    this.#events.emit('receipt.updated', { receipt });
    for (const watcher of [...this.#watchers]) watcher(receipt);
  }
}

/** What the controller observed, as the store takes it. A wait without a hold takes an old hold away. */
export function storedChange(change: InputChange, turnId: string | null): ReceiptChange {
  const { state, input, error } = change;
  return {
    ...(state === undefined ? {} : { state }),
    ...(error === undefined ? {} : { error }),
    ...(input === undefined ? {} : { input: { ...input, hold: input.hold ?? null } }),
    ...(turnId === null ? {} : { turnId }),
  };
}

function conflict(): CodedError<'IDEMPOTENCY_CONFLICT'> {
  return new CodedError(
    'IDEMPOTENCY_CONFLICT',
    'this idempotency key was used for another request; take a new key',
  );
}
