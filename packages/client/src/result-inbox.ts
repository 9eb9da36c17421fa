import {
  canonicalJson,
  type JsonValue,
  type OstlerEvent,
  type Receipt,
  receiptSchema,
  type TurnResult,
  turnResultSchema,
} from '@ostler/protocol';
import { type Clock, isCoded, keepAliveClock } from '@ostler/runtime';
import { ClientError } from './client-error.js';
import { beforeAllEvents, type ResumePoint } from './cursor.js';
import type { OwnKey, ResultInboxStorage, ResultRef, Utterance } from './inbox-storage.js';

export interface ResultInboxLimits {
  /** Requests that wait for an answer. Beyond it `expect` is refused, before anything is sent. */
  readonly maxOpenKeys: number;
  /** How long keys and results are remembered. A result that comes later is nobody's. */
  readonly retentionMs: number;
}

/** Longer than any server sends a result again. */
export const defaultResultInboxLimits: ResultInboxLimits = {
  maxOpenKeys: 4_096,
  retentionMs: 7 * 24 * 60 * 60_000,
};

const prunesInRetention = 100;

export type InboxRefusal =
  | 'malformed'
  | 'unknown_key'
  | 'other_delivery'
  | 'other_instance'
  | 'other_agent';

/** What one event did. */
export type InboxEffect =
  | { readonly effect: 'stored'; readonly ref: ResultRef }
  | { readonly effect: 'already_stored'; readonly ref: ResultRef }
  /** Nothing was applied, not even for members that are in order. */
  | { readonly effect: 'refused'; readonly reason: InboxRefusal }
  /** The server broke the protocol: the first content stays. */
  | {
      readonly effect: 'protocol_error';
      readonly reason: 'other_content';
      readonly ref: ResultRef;
    }
  /** An own key's delivery is not known and could not be asked for; give the event again later. */
  | { readonly effect: 'waiting'; readonly idempotencyKey: string }
  | { readonly effect: 'none' };

export type SpeakEffect =
  | { readonly kind: 'nothing_queued' }
  | { readonly kind: 'spoken' | 'uncertain' | 'queued_again'; readonly utterance: Utterance };

export interface ResultInboxOptions {
  readonly storage: ResultInboxStorage;
  readonly clock?: Clock;
  readonly limits?: Partial<ResultInboxLimits>;
}

/** Asks the server for a receipt: `client.receipt.get`. */
export type AskReceipt = (idempotencyKey: string) => Promise<Receipt | null>;

/**
 * The receiver's half of `turn.correlation.v2`, for one device of one server: a result is applied
 * whole or not at all, stored once, and spoken at most once, across crashes of this process too.
 * Its methods run one after another, in the order of the calls.
 */
export class ResultInbox implements AsyncDisposable {
  readonly #storage: ResultInboxStorage;
  readonly #clock: Clock;
  readonly #limits: ResultInboxLimits;
  #last: Promise<unknown> = Promise.resolve();
  #speaking: Promise<unknown> = Promise.resolve();
  #prunedAtMs = 0;

  private constructor({ clock, limits, storage }: ResultInboxOptions) {
    this.#storage = storage;
    this.#clock = clock ?? keepAliveClock;
    this.#limits = { ...defaultResultInboxLimits, ...limits };
  }

  /** What an earlier process left in playback becomes `uncertain`; old entries are forgotten. */
  static async open(options: ResultInboxOptions): Promise<ResultInbox> {
    const inbox = new ResultInbox(options);
    await inbox.#storage.doubtPlaying();
    await inbox.prune();
    return inbox;
  }

  /**
   * Claims a key as this device's own; to be called before the request is sent. Throws ClientError
   * INBOX_FULL, or INBOX_KEY_REUSED where the key is of another agent or has had its answer.
   */
  expect(key: Pick<OwnKey, 'idempotencyKey' | 'machineId' | 'agentId'>): Promise<void> {
    const { maxOpenKeys } = this.#limits;
    return this.#inOrder(async () => {
      const { agentId, idempotencyKey, machineId } = key;
      const added: OwnKey = {
        ...{ idempotencyKey, machineId, agentId },
        addedAtMs: this.#clock.nowMs(),
        delivery: null,
        state: 'open',
      };
      let kept = await this.#storage.addKey(added, maxOpenKeys);
      if (!kept) {
        await this.#prune();
        kept = await this.#storage.addKey(added, maxOpenKeys);
      }
      if (!kept) {
        throw new ClientError(
          'INBOX_FULL',
          'not_carried_out',
          `${maxOpenKeys} requests wait for an answer; nothing was sent`,
        );
      }
      const isSame = kept.agentId === agentId && kept.machineId === machineId;
      if (isSame && kept.state === 'open') return;
      throw new ClientError(
        'INBOX_KEY_REUSED',
        'not_carried_out',
        isSame
          ? 'this key is settled already; take a new one for a new request'
          : 'this key was used for another agent; take a new one',
      );
    });
  }

  /**
   * Takes a receipt of this device: from an answer, `receipt.get`, or `receipt.updated`. The first
   * delivery of an own key stays. False: the key is not an own one, or has another delivery.
   */
  receipt(receipt: Receipt): Promise<boolean> {
    return this.#inOrder(() => this.#learn(receipt));
  }

  /**
   * Applies one event. `ask` finds the delivery of an own key whose answer was lost. Where a storage
   * step fails it rejects, and the same event may be given again.
   */
  event(event: OstlerEvent, ask?: AskReceipt): Promise<InboxEffect> {
    return this.#inOrder(async () => {
      if (event.kind === 'receipt.updated') {
        const { receipt } = event.payload as { readonly receipt?: Receipt };
        if (isReceipt(receipt)) await this.#learn(receipt);
        return { effect: 'none' };
      }
      if (event.kind !== 'turn.result') return { effect: 'none' };
      return await this.#apply(event, ask);
    });
  }

  /**
   * Speaks the oldest queued utterance. It is written as `playing` before `play` is called. Where
   * `play` rejects or the process ends, it is `uncertain` and is not spoken again; only where `play`
   * rejects with the code PLAYBACK_NOT_STARTED it is queued again.
   */
  speakNext(play: (utterance: Utterance) => Promise<void>): Promise<SpeakEffect> {
    const spoken = this.#speaking.then(async (): Promise<SpeakEffect> => {
      const [utterance] = await this.#storage.utterances('queued', 1);
      if (!utterance) return { kind: 'nothing_queued' };
      if (!(await this.#storage.moveUtterance(utterance, 'queued', 'playing'))) {
        return { kind: 'nothing_queued' };
      }
      try {
        await play(utterance);
      } catch (failure) {
        const isCertain = isCoded(failure, 'PLAYBACK_NOT_STARTED');
        await this.#storage.moveUtterance(utterance, 'playing', isCertain ? 'queued' : 'uncertain');
        return { kind: isCertain ? 'queued_again' : 'uncertain', utterance };
      }
      await this.#storage.moveUtterance(utterance, 'playing', 'spoken');
      return { kind: 'spoken', utterance };
    });
    this.#speaking = spoken.catch(() => undefined);
    return spoken;
  }

  /** Those whose playback began and was never acknowledged: a person may be asked. */
  uncertain(maxCount = 64): Promise<readonly Utterance[]> {
    return this.#storage.utterances('uncertain', maxCount);
  }

  queued(maxCount = 64): Promise<readonly Utterance[]> {
    return this.#storage.utterances('queued', maxCount);
  }

  /** Own keys without an answer, the oldest first. */
  openKeys(maxCount = 64): Promise<readonly OwnKey[]> {
    return this.#storage.openKeys(maxCount);
  }

  /** Where the client shall go on: behind what was applied, or before all, so that kept results come again. */
  async resumePoint(): Promise<ResumePoint> {
    return (await this.#storage.resumePoint()) ?? beforeAllEvents;
  }

  /** Everything up to `point` was applied. */
  applied(point: ResumePoint): Promise<void> {
    return this.#inOrder(() => this.#storage.setResumePoint(point));
  }

  /** A request of which it is proven that nothing was submitted has no answer to wait for. */
  rejected(idempotencyKey: string): Promise<void> {
    return this.#inOrder(() => this.#storage.rejectKey(idempotencyKey));
  }

  /** Done at the opening, and from time to time as results come. */
  prune(): Promise<void> {
    return this.#inOrder(() => this.#prune());
  }

  /** Waits for what runs, then closes the storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#speaking;
    await this.#last;
    await this.#storage[Symbol.asyncDispose]();
  }

  async #prune(): Promise<void> {
    this.#prunedAtMs = this.#clock.nowMs();
    await this.#storage.prune(this.#prunedAtMs - this.#limits.retentionMs);
  }

  async #learn(receipt: Receipt): Promise<boolean> {
    const { agentId, deliveryId, idempotencyKey, machineId, serverInstanceId, state } = receipt;
    const key = await this.#storage.key(idempotencyKey);
    if (key?.agentId !== agentId || key.machineId !== machineId) return false;
    if (!key.delivery) {
      await this.#storage.setDelivery(idempotencyKey, { deliveryId, serverInstanceId });
    } else if (key.delivery.deliveryId !== deliveryId) return false;
    if (state === 'rejected') await this.#storage.rejectKey(idempotencyKey);
    return true;
  }

  async #apply(event: OstlerEvent, ask?: AskReceipt): Promise<InboxEffect> {
    const parsed = turnResultSchema.safeParse(event.payload);
    if (!parsed.success) return { effect: 'refused', reason: 'malformed' };
    const result = parsed.data;
    for (const member of result.correlation.inputs) {
      const reason = await this.#refusalOf(event, result, member, ask);
      if (reason === 'delivery_not_known') {
        return { effect: 'waiting', idempotencyKey: member.idempotencyKey };
      }
      if (reason !== null) return { effect: 'refused', reason };
    }
    const ref = { serverInstanceId: result.serverInstanceId, resultId: result.resultId };
    const nowMs = this.#clock.nowMs();
    if (await this.#storage.storeResult(result, nowMs)) {
      if (nowMs - this.#prunedAtMs > this.#limits.retentionMs / prunesInRetention) {
        await this.#prune();
      }
      return { effect: 'stored', ref };
    }
    const stored = await this.#storage.result(ref);
    return stored && isSame(stored.result, result)
      ? { effect: 'already_stored', ref }
      : { effect: 'protocol_error', reason: 'other_content', ref };
  }

  async #refusalOf(
    event: OstlerEvent,
    result: TurnResult,
    member: TurnResult['correlation']['inputs'][number],
    ask?: AskReceipt,
  ): Promise<Exclude<InboxRefusal, 'malformed'> | 'delivery_not_known' | null> {
    let key = await this.#storage.key(member.idempotencyKey);
    if (!key) return 'unknown_key';
    if (!key.delivery && ask) {
      const receipt = await ask(member.idempotencyKey).catch(() => null);
      if (receipt) await this.#learn(receipt);
      key = await this.#storage.key(member.idempotencyKey);
    }
    if (!key?.delivery) return 'delivery_not_known';
    if (key.delivery.deliveryId !== member.deliveryId) return 'other_delivery';
    if (key.delivery.serverInstanceId !== result.serverInstanceId) return 'other_instance';
    if (key.agentId !== event.agentId || key.machineId !== event.machineId) return 'other_agent';
    return null;
  }

  #inOrder<Result>(step: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function isSame(one: TurnResult, other: TurnResult): boolean {
  return (
    canonicalJson(one as unknown as JsonValue) === canonicalJson(other as unknown as JsonValue)
  );
}

function isReceipt(receipt: Receipt | undefined): receipt is Receipt {
  return receiptSchema.safeParse(receipt).success;
}
