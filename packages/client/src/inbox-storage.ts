import type { TurnResult } from '@ostler/protocol';
import type { ResumePoint } from './cursor.js';

/** A request of this device, written before it is sent. */
export interface OwnKey {
  readonly idempotencyKey: string;
  readonly machineId: string;
  readonly agentId: string;
  readonly addedAtMs: number;
  /** Null until a receipt named them. */
  readonly delivery: {
    readonly deliveryId: string;
    readonly serverInstanceId: string;
  } | null;
  /** `open`: an answer may come. `answered`: a stored result names it. `rejected`: nothing was submitted. */
  readonly state: 'open' | 'answered' | 'rejected';
}

/** A result's name in one device's storage. */
export interface ResultRef {
  readonly serverInstanceId: string;
  readonly resultId: string;
}

/**
 * `queued`: to be spoken. `playing`: written before playback. `spoken`: playback said so.
 * `uncertain`: playback began, and whether it ended is not known; it is not spoken again.
 */
export type UtteranceState = 'queued' | 'playing' | 'spoken' | 'uncertain';

export interface Utterance extends ResultRef {
  readonly fullText: string;
  readonly outcome: TurnResult['outcome'];
  readonly idempotencyKeys: readonly string[];
}

export interface StoredResult {
  readonly result: TurnResult;
  readonly storedAtMs: number;
  readonly utterance: UtteranceState;
}

/**
 * Where a `ResultInbox` keeps what it knows, for one device of one server. Each method is one
 * durable step: done whole when it resolves, or not at all.
 */
export interface ResultInboxStorage extends AsyncDisposable {
  /** Adds the key where it is not known; gives what is kept. Null: as many open keys as there may be. */
  addKey(key: OwnKey, maxOpenKeys: number): Promise<OwnKey | null>;
  key(idempotencyKey: string): Promise<OwnKey | null>;
  /** Sets the delivery of a key that has none. False: another is kept, or the key is not known. */
  setDelivery(idempotencyKey: string, delivery: NonNullable<OwnKey['delivery']>): Promise<boolean>;
  /** Only an open key is moved. */
  rejectKey(idempotencyKey: string): Promise<void>;
  /** The oldest first. */
  openKeys(maxCount: number): Promise<readonly OwnKey[]>;
  result(ref: ResultRef): Promise<StoredResult | null>;
  /** Stores the result, queues its utterance and marks its members answered, all in one step. False: it was there. */
  storeResult(result: TurnResult, storedAtMs: number): Promise<boolean>;
  /** In the order they were stored. */
  utterances(state: UtteranceState, maxCount: number): Promise<readonly Utterance[]>;
  /** False where it is not in `from`. */
  moveUtterance(ref: ResultRef, from: UtteranceState, to: UtteranceState): Promise<boolean>;
  /** What a process that ended left `playing` becomes `uncertain`. Gives how many. */
  doubtPlaying(): Promise<number>;
  resumePoint(): Promise<ResumePoint | null>;
  setResumePoint(point: ResumePoint): Promise<void>;
  /**
   * Forgets, in one step, settled results stored before `beforeMs` together with the keys they name,
   * and keys without an answer added before it: a result that comes again then names nobody's key.
   */
  prune(beforeMs: number): Promise<void>;
}
