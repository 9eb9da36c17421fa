import type { InputMode } from '@ostler/protocol';
import type { ActiveInput, InputContext } from './machine-types.js';
import { type Outstanding, withdrawnCode } from './outstanding.js';
import { maxUnseenInputs } from './steps/context.js';

/** An input that an earlier process dispatched into a session that still runs. */
export interface RestoredInput {
  readonly deliveryId: string;
  readonly fingerprint: string;
  readonly mode: InputMode;
  /** Unix epoch: when its Enter was begun, or its paste where it had none. */
  readonly sinceMs: number;
  /** The engine was seen to have it. */
  readonly accepted: boolean;
  readonly enterBegun: boolean;
  /** Its paste was seen in the composer: an empty one now says that it is over. */
  readonly pasteSeen?: boolean;
  /** Why it is in doubt. */
  readonly doubt: string;
  /** Another was dispatched behind it: its transaction was over before this process came. */
  readonly isOver?: boolean;
  /** More was written since its paste than was ours: a person's Enter may be on its way to it. */
  readonly personTyped?: boolean;
  /** An equal text was on its way at the same time: nothing tells which of them a turn took. */
  readonly hasTwin?: boolean;
  /** The record's entry that an earlier process saw it consumed by: no other is its own. */
  readonly consumedRef?: string;
  /** What was pasted, where somebody kept it; without it the draft can't be told from a person's. */
  readonly text: string | null;
}

/** Goes on being matched against the engine's record. */
export function restoredOutstanding(input: RestoredInput): Outstanding {
  const { accepted, deliveryId, doubt, fingerprint, mode, sinceMs } = input;
  const isWithdrawn = doubt === withdrawnCode;
  return {
    deliveryId,
    fingerprint,
    mode,
    sinceMs,
    credited: [],
    accepted,
    doubted: !accepted || isWithdrawn,
    // When isn't kept: no acceptance that is read from here on is known to be newer.
    withdrawnAtMs: isWithdrawn ? Number.POSITIVE_INFINITY : null,
    consumed: false,
    inputRef: input.consumedRef ?? null,
    turnRef: null,
    tie: input.hasTwin === true ? 'lost' : 'own',
  };
}

/** Nobody remembers whether they were seen in the composer. */
export function restoredUnseen(inputs: readonly RestoredInput[]): InputContext['unseen'] {
  const barrier = restoredBarrier(inputs)?.deliveryId;
  return inputs
    .filter(({ accepted, deliveryId }) => !accepted && deliveryId !== barrier)
    .map(({ deliveryId, fingerprint, sinceMs }) => ({ deliveryId, fingerprint, sinceMs }))
    .slice(-maxUnseenInputs);
}

/**
 * The barrier an earlier process left: its last input, where nothing shows that the engine has
 * it. What it had seen of the screen is forgotten, so that only what is seen from now on counts.
 */
export function restoredBarrier(inputs: readonly RestoredInput[]): ActiveInput | null {
  const last = inputs.at(-1);
  if (!last || last.accepted || last.isOver === true) return null;
  return {
    deliveryId: last.deliveryId,
    fingerprint: last.fingerprint,
    bytes: 0,
    mode: last.mode,
    reported: '',
    enters: last.enterBegun ? 1 : 0,
    writeConfirmed: false,
    retryDue: false,
    deadlinePassed: true,
    looks: 0,
    composerDiscredited: true,
    pasteSeen: last.pasteSeen === true,
    echoSeen: false,
    twinPossible: true,
    stashSeen: true,
    settled: false,
    doubt: last.doubt,
    reclaimRounds: 0,
  };
}
