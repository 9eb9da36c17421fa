import type { InputContext, InputEvent } from './machine-types.js';
import { blockedBy, type Observation } from './observation.js';
import { unresolvedCount } from './outstanding.js';

interface Moment {
  readonly context: InputContext;
  readonly event: InputEvent;
}

export function observed(event: InputEvent): Observation {
  if (event.type !== 'LOOKED') throw new TypeError(`a look was expected, not ${event.type}`);
  return event.seen;
}

/** The engine is at work: it shows it, or an input of ours or its record opened a turn not yet seen to end. */
export function isBusy(context: InputContext, seen: Observation): boolean {
  if (seen.busy) return true;
  const { turnOpenSinceMs, limits } = context;
  return turnOpenSinceMs !== null && seen.atMs - turnOpenSinceMs < limits.idleSettleMs;
}

/**
 * The engine holds inputs in its own queue and no turn is known to run: it is about to take
 * them, and what is typed in between would go first (claude 2.1.328, once in 40 bursts).
 */
function isDraining(context: InputContext, seen: Observation): boolean {
  const { limits, outstanding, queuedSinceMs, turnOpenSinceMs } = context;
  if (queuedSinceMs === null) return false;
  // A turn may take long: what counts is how long ago the engine was last at work.
  const sinceMs = seen.busy ? queuedSinceMs : Math.max(queuedSinceMs, seen.busyAtMs);
  return (
    seen.atMs - sinceMs < limits.turnStartMs &&
    (!seen.busy || turnOpenSinceMs === null) &&
    outstanding.some(
      ({ accepted, consumed, doubted, mode }) =>
        mode === 'native_queue' && accepted && !consumed && !doubted,
    )
  );
}

/**
 * How long the active input has to wait for an equal text that was pasted, never seen and is
 * still in doubt: its echo would be taken for this one's.
 */
export function twinHoldLeftMs(context: InputContext, { nowMs }: Observation): number {
  const { active, limits, outstanding, unseen } = context;
  const leftMs = unseen
    .filter(
      ({ deliveryId, fingerprint }) =>
        fingerprint === active?.fingerprint &&
        outstanding.some((input) => input.deliveryId === deliveryId && input.doubted),
    )
    .map(({ sinceMs }) => sinceMs + limits.twinHoldMs - nowMs);
  return Math.max(0, ...leftMs);
}

/** Why the active input can't be dispatched at this look, by hold name. */
export function holdAt(context: InputContext, seen: Observation): string | null {
  const blocked = blockedBy(seen);
  if (blocked) return blocked;
  if (seen.draft !== 'empty') return seen.draftIsAccepted ? 'redraw_pending' : 'foreign_draft';
  if (seen.personTypedAgoMs < context.limits.personQuietMs) return 'person_typing';
  if (seen.overtakes) return seen.overtakes;
  if (twinHoldLeftMs(context, seen) > 0) return 'unconfirmed_input';
  const { startPendingSinceMs, limits } = context;
  if (startPendingSinceMs !== null && seen.atMs - startPendingSinceMs < limits.turnStartMs) {
    return 'turn_starting';
  }
  if (isDraining(context, seen)) return 'turn_starting';
  if (unresolvedCount(context.outstanding) >= context.limits.maxUnresolvedItems) {
    return 'unresolved_limit';
  }
  return null;
}

/** The whole draft is ours, on a readable screen, with nothing in the way. */
function showsExactlyOurs(seen: Observation): boolean {
  return blockedBy(seen) === null && seen.draft === 'exact';
}

/** The draft we had seen whole is gone from a composer that was never out of sight. */
function draftLeft(context: InputContext, seen: Observation): boolean {
  return (
    seen.newerThanEnter &&
    !seen.personTyped &&
    blockedBy(seen) === null &&
    seen.draft === 'empty' &&
    context.active?.composerDiscredited === false &&
    !context.active.twinPossible &&
    context.active.enters > 0
  );
}

export const guards: Record<string, (moment: Moment) => boolean> = {
  controlWanted: ({ context }) => context.controlWanted > 0,
  hasWaiting: ({ context }) => context.queue.length > 0,
  hasActive: ({ context }) => context.active !== null,
  inDoubt: ({ context }) => context.active?.doubt != null,
  settled: ({ context }) => context.active?.settled === true,
  isActive: ({ context, event }) =>
    'deliveryId' in event && context.active?.deliveryId === event.deliveryId,

  processGone: ({ event }) => !observed(event).alive,
  bodyRefused: ({ event }) =>
    observed(event).refusal !== null && blockedBy(observed(event)) === null,
  held: ({ context, event }) => holdAt(context, observed(event)) !== null,
  waitsForTurn: ({ context, event }) =>
    context.busyMode === 'daemon_queue' && isBusy(context, observed(event)),

  dialogOpen: ({ event }) => observed(event).hold !== null,
  exactlyOurs: ({ event }) => showsExactlyOurs(observed(event)),
  /** Our text stands there, and the turn it was to be queued behind has ended meanwhile. */
  wouldOvertake: ({ context, event }) =>
    context.active?.mode === 'native_queue' &&
    !context.active.deadlinePassed &&
    showsExactlyOurs(observed(event)) &&
    isDraining(context, observed(event)),
  deadlinePassed: ({ context }) => context.active?.deadlinePassed === true,

  leftComposer: ({ context, event }) => draftLeft(context, observed(event)),
  shownInQueue: ({ context, event }) => {
    const seen = observed(event);
    return (
      seen.newerThanEnter &&
      seen.readable &&
      seen.queueShowsActive &&
      seen.draft !== 'exact' &&
      context.active?.twinPossible === false &&
      (context.active?.enters ?? 0) > 0
    );
  },
  mayEnterAgain: ({ context, event }) => {
    const { active, limits } = context;
    return (
      active !== null &&
      active.retryDue &&
      active.writeConfirmed &&
      active.enters <= limits.maxEnterRetries &&
      // The Enter before may be unread yet: it would bring the stash back, and this one submit it.
      !(active.stashSeen || observed(event).stashed) &&
      // A frozen, busy engine may be about to paint a dialog that an Enter would answer.
      (observed(event).newerThanEnter || !isBusy(context, observed(event))) &&
      showsExactlyOurs(observed(event))
    );
  },
  outOfLooks: ({ context }) => (context.active?.looks ?? 0) >= context.limits.maxConfirmLooks,

  composerClear: ({ event }) =>
    blockedBy(observed(event)) === null && observed(event).draft === 'empty',
  personTyped: ({ event }) => observed(event).personTyped,
  pasteAccounted: ({ context }) =>
    context.active !== null && (context.active.enters > 0 || context.active.pasteSeen),
  reclaimable: ({ context, event }) =>
    context.active !== null &&
    context.active.enters === 0 &&
    context.active.reclaimRounds < context.limits.maxReclaimRounds &&
    // What a person typed since may be behind our text, and an Enter of theirs on its way.
    !observed(event).personTyped &&
    showsExactlyOurs(observed(event)),

  nothingWritten: ({ event }) => event.type === 'WRITTEN' && event.outcome === 'nothing_written',
  firstEnter: ({ context }) => (context.active?.enters ?? 0) === 0,
};
