import { holdAt, isBusy, observed, twinHoldLeftMs } from '../guards.js';
import {
  type ActiveInput,
  type InputContext,
  type InputEvent,
  inputStatus,
} from '../machine-types.js';
import { type Observation, waitingPhase } from '../observation.js';
import { unresolvedCount } from '../outstanding.js';
import { fits } from '../waiting-queue.js';
import { activeOf, rejection, withActive } from './context.js';
import { Effect, type Step } from './effect.js';

export function admit(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'SUBMIT') return effect;
  const { input } = event;
  const idle = context.active === null && context.queue.length === 0;
  const full =
    unresolvedCount(context.outstanding) >= context.limits.maxUnresolvedItems ||
    !(idle || fits(context.queue, input, context.limits));
  if (full) {
    const change = rejection(
      'queue_full',
      'the session already holds as many inputs as it may; wait for one to be accepted, then send again with a new key',
    );
    effect.report(input.deliveryId, change);
    effect.forget(input.deliveryId);
    return effect;
  }
  effect.change({ queue: [...context.queue, input] });
  // What waits behind something says so at once; what may go now is about to say more.
  if (!idle) {
    const mode = context.turnOpenSinceMs === null ? 'direct' : context.busyMode;
    const behindDoubt = context.active?.doubt != null ? { hold: 'unconfirmed_input' } : {};
    const change = { input: inputStatus(mode, 'waiting_for_writer', behindDoubt) };
    effect.report(input.deliveryId, change);
  }
  return effect;
}

export function takeNext(context: InputContext): Effect {
  const [next, ...queue] = context.queue;
  if (!next || context.active) return new Effect().change({});
  const active: ActiveInput = {
    ...next,
    mode: null,
    reported: '',
    enters: 0,
    writeConfirmed: false,
    retryDue: false,
    deadlinePassed: false,
    looks: 0,
    composerDiscredited: false,
    pasteSeen: false,
    echoSeen: false,
    twinPossible: false,
    stashSeen: false,
    settled: false,
    doubt: null,
    reclaimRounds: 0,
  };
  return new Effect().change({ queue, active });
}

export function reportHeld(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  const seen = observed(event);
  const active = activeOf(context);
  const hold = holdAt(context, seen);
  const mode = isBusy(context, seen) ? context.busyMode : 'direct';
  const input =
    hold === null
      ? inputStatus(mode, 'waiting_for_turn')
      : inputStatus(mode, waitingPhase(hold), { hold });
  const reported = `${input.mode} ${input.phase} ${hold ?? ''}`;
  const endsAfterMs = endsByTimeMs(hold, context, seen);
  // Whole, and so never too short for a clock to move on by.
  if (endsAfterMs !== null) effect.startTimer('idle', Math.ceil(endsAfterMs));
  if (reported === active.reported) return effect;
  effect.change(withActive(context, { reported }));
  effect.report(active.deliveryId, { input });
  return effect;
}

/** Waits that end by time as well, where nothing on the screen may tell. */
function endsByTimeMs(
  hold: string | null,
  context: InputContext,
  seen: Observation,
): number | null {
  const { limits } = context;
  switch (hold) {
    case null:
      return limits.idleSettleMs;
    case 'turn_starting':
      return limits.turnStartMs;
    case 'person_typing':
      return limits.personQuietMs - seen.personTypedAgoMs;
    case 'unconfirmed_input':
      return twinHoldLeftMs(context, seen);
    default:
      return null;
  }
}

export function rejectRefused(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  const { refusal } = observed(event);
  const { deliveryId } = activeOf(context);
  if (!refusal) return effect;
  effect.change({ active: null });
  effect.report(deliveryId, rejection(refusal.reason, refusal.message));
  effect.forget(deliveryId);
  return effect;
}

export function rejectActive(code: string, message: string): Step {
  return (context) => {
    const effect = new Effect();
    const { deliveryId } = activeOf(context);
    effect.change({
      active: null,
      outstanding: context.outstanding.filter((input) => input.deliveryId !== deliveryId),
    });
    effect.report(deliveryId, rejection(code, message));
    effect.forget(deliveryId);
    return effect;
  };
}

export function dropWaiting(code: string, message: string): Step {
  return (context, event) => {
    const effect = new Effect();
    if (!('deliveryId' in event)) return effect;
    const { deliveryId } = event;
    if (!context.queue.some((input) => input.deliveryId === deliveryId)) return effect;
    effect.change({ queue: context.queue.filter((input) => input.deliveryId !== deliveryId) });
    effect.report(deliveryId, rejection(code, message));
    effect.forget(deliveryId);
    return effect;
  };
}

export const cancelMessage = 'cancelled by its sender before anything was written';

export const expiredMessage = 'waited as long as an input may, and was never written';
