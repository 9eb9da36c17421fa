import type { OstlerEvent, ResultOf } from '@ostler/protocol';
import { type Clock, isCoded, keepAliveClock } from '@ostler/runtime';
import type { OstlerClient } from './client.js';
import { ClientError } from './client-error.js';
import type { ResumePoint } from './cursor.js';
import type { FieldsOf } from './operations.js';
import type { InboxEffect, ResultInbox } from './result-inbox.js';

export interface FollowResultsOptions {
  readonly client: OstlerClient;
  readonly inbox: ResultInbox;
  readonly clock?: Clock;
  /** Each result's effect; a stored one is there to be spoken. */
  readonly onEffect?: (effect: InboxEffect) => void;
  /** A storage or a request failed. The place among the events stays: what was missed comes again. */
  readonly onError?: (failure: unknown) => void;
  /** Results that wait for the receipt of an own key. */
  readonly maxWaitingResults?: number;
  /** Own keys asked for after a resync or a restart of the server. */
  readonly maxReconciledKeys?: number;
}

type SendFields = Omit<FieldsOf<'turn.send'>, 'machineId'> & { readonly machineId?: string };

const pauseWhenLimitedMs = 1_000;
const maxLimitedAttempts = 5;

/**
 * Brings a client's results into an inbox, and asks for the receipts of open keys behind a resync
 * and behind a restart of the server. Connect the client with `resume: await inbox.resumePoint()`.
 */
export class ResultFollower implements AsyncDisposable {
  readonly #options: FollowResultsOptions;
  readonly #clock: Clock;
  readonly #maxWaiting: number;
  readonly #subscriptions: Disposable[] = [];
  readonly #gone = new AbortController();
  #waiting: OstlerEvent[] = [];
  #instance: string;
  #reconciling: Promise<void> | null = null;
  #reconcileAgain = false;
  /** Something before now was not applied: the kept place may not move past it. */
  #hasGap = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: FollowResultsOptions) {
    const { client } = options;
    this.#options = options;
    this.#clock = options.clock ?? keepAliveClock;
    this.#maxWaiting = options.maxWaitingResults ?? 64;
    this.#instance = client.serverInstanceId;
    this.#subscriptions.push(
      client.on('event', (event) => this.#event(event, client.resumePoint)),
      client.on('resync', () => this.#reconcileSoon()),
      client.on('connection', (news) => {
        if (news.state !== 'connected' || news.hello.serverInstanceId === this.#instance) return;
        this.#instance = news.hello.serverInstanceId;
        this.#reconcileSoon();
      }),
    );
    this.#reconcileSoon();
  }

  /**
   * `turn.send` whose answer will be this device's: the key is written before anything is sent, the
   * delivery as soon as it is known. Rejects as `turn.send` does, and with INBOX_FULL and INBOX_KEY_REUSED.
   */
  async send(fields: SendFields, signal?: AbortSignal): Promise<ResultOf<'turn.send'>> {
    const { client, inbox } = this.#options;
    const { agentId, idempotencyKey, machineId = client.machineId } = fields;
    await inbox.expect({ idempotencyKey, machineId, agentId });
    const answer = await client.turn.send({ ...fields, machineId }, signal);
    await inbox.receipt(answer.receipt);
    this.#retry();
    return answer;
  }

  /** Resolves once every event that came before was applied. */
  async settled(): Promise<void> {
    await this.#reconciling;
    await this.#work;
  }

  /** Stops taking events; the client and the inbox stay. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    this.#gone.abort();
    await this.settled();
  }

  #event(event: OstlerEvent, point: ResumePoint): void {
    if (event.kind !== 'turn.result' && event.kind !== 'receipt.updated') return;
    this.#do(async () => {
      try {
        await this.#apply(event, point);
      } catch (failure) {
        if (event.kind === 'turn.result') this.#keep(event);
        throw failure;
      }
    });
    if (event.kind === 'receipt.updated') this.#retry();
  }

  async #apply(event: OstlerEvent, point: ResumePoint | null): Promise<void> {
    const { inbox, onEffect } = this.#options;
    const effect = await inbox.event(event, (key) => this.#ask(key));
    if (effect.effect === 'waiting') this.#keep(event);
    if (event.kind === 'turn.result') onEffect?.(effect);
    if (point && event.kind === 'turn.result' && this.#waiting.length === 0 && !this.#hasGap) {
      await inbox.applied(point);
    }
  }

  #keep(event: OstlerEvent): void {
    if (this.#waiting.length < this.#maxWaiting) this.#waiting.push(event);
    else this.#hasGap = true;
  }

  #retry(): void {
    this.#do(async () => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const [index, event] of waiting.entries()) {
        try {
          await this.#apply(event, null);
        } catch (failure) {
          for (const left of waiting.slice(index)) this.#keep(left);
          throw failure;
        }
      }
    });
  }

  #do(step: () => Promise<void>): void {
    this.#work = this.#work.then(step).catch((failure: unknown) => {
      this.#tell(failure);
    });
  }

  #tell(failure: unknown): void {
    if (!this.#gone.signal.aborted) this.#options.onError?.(failure);
  }

  #reconcileSoon(): void {
    this.#reconcileAgain = true;
    this.#reconciling ??= this.#reconcile()
      .catch((failure: unknown) => this.#tell(failure))
      .finally(() => {
        this.#reconciling = null;
      });
  }

  /** Null proves nothing, so such a key stays open. */
  async #reconcile(): Promise<void> {
    const { inbox, maxReconciledKeys = 512 } = this.#options;
    while (this.#reconcileAgain) {
      this.#reconcileAgain = false;
      for (const { idempotencyKey } of await inbox.openKeys(maxReconciledKeys)) {
        if (this.#gone.signal.aborted) return;
        const receipt = await this.#ask(idempotencyKey);
        if (receipt) await inbox.receipt(receipt);
      }
      this.#retry();
    }
  }

  async #ask(idempotencyKey: string): ReturnType<OstlerClient['receipt']['get']> {
    const { client } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await client.receipt.get(idempotencyKey, this.#gone.signal);
      } catch (failure) {
        const isLimited = isCoded(failure, 'RATE_LIMITED', 'BACKPRESSURE', 'TOO_MANY_REQUESTS');
        if (!isLimited || attempt >= maxLimitedAttempts) throw failure;
        await this.#pause();
      }
    }
  }

  #pause(): Promise<void> {
    const { signal } = this.#gone;
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        timer[Symbol.dispose]();
        reject(new ClientError('ABORTED', 'not_carried_out', 'the follower was closed'));
      };
      const timer = this.#clock.setTimer(pauseWhenLimitedMs, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
