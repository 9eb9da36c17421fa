import type { TurnResult } from '@ostler/protocol';
import type { ResumePoint } from './cursor.js';
import type {
  OwnKey,
  ResultInboxStorage,
  ResultRef,
  StoredResult,
  Utterance,
  UtteranceState,
} from './inbox-storage.js';

/** An inbox's storage that lives as long as the process: for tests, and where a restart may forget. */
export class MemoryInboxStorage implements ResultInboxStorage {
  readonly #keys = new Map<string, OwnKey>();
  readonly #results = new Map<string, StoredResult>();
  #point: ResumePoint | null = null;

  addKey(key: OwnKey, maxOpenKeys: number): Promise<OwnKey | null> {
    const kept = this.#keys.get(key.idempotencyKey);
    if (kept) return Promise.resolve(kept);
    if (this.#open().length >= maxOpenKeys) return Promise.resolve(null);
    this.#keys.set(key.idempotencyKey, key);
    return Promise.resolve(key);
  }

  key(idempotencyKey: string): Promise<OwnKey | null> {
    return Promise.resolve(this.#keys.get(idempotencyKey) ?? null);
  }

  setDelivery(idempotencyKey: string, delivery: NonNullable<OwnKey['delivery']>): Promise<boolean> {
    const key = this.#keys.get(idempotencyKey);
    if (!key || key.delivery) return Promise.resolve(false);
    this.#keys.set(idempotencyKey, { ...key, delivery });
    return Promise.resolve(true);
  }

  rejectKey(idempotencyKey: string): Promise<void> {
    const key = this.#keys.get(idempotencyKey);
    if (key?.state === 'open') this.#keys.set(idempotencyKey, { ...key, state: 'rejected' });
    return Promise.resolve();
  }

  openKeys(maxCount: number): Promise<readonly OwnKey[]> {
    return Promise.resolve(this.#open().slice(0, maxCount));
  }

  result(ref: ResultRef): Promise<StoredResult | null> {
    return Promise.resolve(this.#results.get(nameOf(ref)) ?? null);
  }

  storeResult(result: TurnResult, storedAtMs: number): Promise<boolean> {
    if (this.#results.has(nameOf(result))) return Promise.resolve(false);
    this.#results.set(nameOf(result), { result, storedAtMs, utterance: 'queued' });
    for (const { idempotencyKey } of result.correlation.inputs) {
      const key = this.#keys.get(idempotencyKey);
      if (key) this.#keys.set(idempotencyKey, { ...key, state: 'answered' });
    }
    return Promise.resolve(true);
  }

  utterances(state: UtteranceState, maxCount: number): Promise<readonly Utterance[]> {
    const found = [...this.#results.values()].filter(({ utterance }) => utterance === state);
    return Promise.resolve(found.slice(0, maxCount).map(({ result }) => utteranceOf(result)));
  }

  moveUtterance(ref: ResultRef, from: UtteranceState, to: UtteranceState): Promise<boolean> {
    const stored = this.#results.get(nameOf(ref));
    if (stored?.utterance !== from) return Promise.resolve(false);
    this.#results.set(nameOf(ref), { ...stored, utterance: to });
    return Promise.resolve(true);
  }

  doubtPlaying(): Promise<number> {
    let count = 0;
    for (const [name, stored] of this.#results) {
      if (stored.utterance !== 'playing') continue;
      this.#results.set(name, { ...stored, utterance: 'uncertain' });
      count += 1;
    }
    return Promise.resolve(count);
  }

  resumePoint(): Promise<ResumePoint | null> {
    return Promise.resolve(this.#point);
  }

  setResumePoint(point: ResumePoint): Promise<void> {
    this.#point = point;
    return Promise.resolve();
  }

  prune(beforeMs: number): Promise<void> {
    for (const [name, { result, storedAtMs, utterance }] of this.#results) {
      if (storedAtMs >= beforeMs || utterance === 'queued' || utterance === 'playing') continue;
      this.#results.delete(name);
      for (const { idempotencyKey } of result.correlation.inputs) this.#keys.delete(idempotencyKey);
    }
    for (const { addedAtMs, idempotencyKey, state } of [...this.#keys.values()]) {
      if (state !== 'answered' && addedAtMs < beforeMs) this.#keys.delete(idempotencyKey);
    }
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  #open(): OwnKey[] {
    return [...this.#keys.values()].filter(({ state }) => state === 'open');
  }
}

export function utteranceOf(result: TurnResult): Utterance {
  const { correlation, fullText, outcome, resultId, serverInstanceId } = result;
  return {
    serverInstanceId,
    resultId,
    outcome,
    fullText,
    idempotencyKeys: correlation.inputs.map(({ idempotencyKey }) => idempotencyKey),
  };
}

const nameOf = ({ resultId, serverInstanceId }: ResultRef): string =>
  JSON.stringify([serverInstanceId, resultId]);
