import { isBusy, observed } from '../guards.js';
import {
  type InputContext,
  type InputEvent,
  inputStatus,
  type ReceiptChange,
} from '../machine-types.js';
import { activeOf, modeOf, rejection, unseenAfter, withActive } from './context.js';
import { Effect } from './effect.js';

export function freezeMode(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  const { deliveryId, reported } = activeOf(context);
  const mode = isBusy(context, observed(event)) ? context.busyMode : 'direct';
  effect.change(withActive(context, { mode }));
  if (reported !== '') {
    // The wait that was reported is over.
    const change = { input: inputStatus(mode, 'waiting_for_writer') };
    effect.report(deliveryId, change);
  }
  effect.command({ type: 'journal', params: { deliveryId, mode } });
  return effect;
}

export function rejectUnjournalled(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  const { deliveryId } = activeOf(context);
  const why = event.type === 'JOURNAL_FAILED' ? event.message : '';
  effect.change({ active: null });
  const change = rejection(
    'INTERNAL',
    `the dispatch could not be recorded, so nothing was written: ${why}`,
  );
  effect.report(deliveryId, change);
  effect.forget(deliveryId);
  return effect;
}

/** From here on the input is matched against the engine's record. */
export function trackActive(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'JOURNALLED') return effect;
  const { deliveryId, fingerprint, mode } = activeOf(context);
  effect.change({
    ...withActive(context, {
      twinPossible:
        event.twinTouched ||
        context.unseen.some(
          (other) =>
            other.fingerprint === fingerprint &&
            event.pastedAtMs - other.sinceMs < context.limits.twinHoldMs,
        ),
    }),
    outstanding: [
      ...context.outstanding,
      {
        deliveryId,
        fingerprint,
        mode: mode ?? 'direct',
        sinceMs: event.pastedAtMs,
        credited: [],
        accepted: false,
        doubted: false,
        withdrawnAtMs: null,
        consumed: false,
        inputRef: null,
        turnRef: null,
        tie: 'own',
      },
    ],
  });
  effect.command({ type: 'paste', params: { deliveryId } });
  effect.startTimer('echo', context.limits.echoDeadlineMs);
  return effect;
}

/** Nothing on the screen may tell that the engine's own queue is not what it waits for. */
export function lookAgainSoon(context: InputContext): Effect {
  const effect = new Effect();
  effect.startTimer('idle', context.limits.turnStartMs);
  return effect;
}

export function pressEnter(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  const { deliveryId, enters, deadlinePassed } = activeOf(context);
  const { nowMs, personTyped } = observed(event);
  if (enters === 0 && !personTyped) {
    effect.change({
      outstanding: context.outstanding.map((input) =>
        input.deliveryId === deliveryId ? { ...input, sinceMs: nowMs } : input,
      ),
    });
  }
  effect.change(
    withActive(context, {
      retryDue: false,
      writeConfirmed: false,
      // The echo's deadline is over with the first Enter; the one for evidence spans all of them.
      deadlinePassed: enters > 0 && deadlinePassed,
    }),
  );
  effect.command({ type: 'stopTimer', params: { name: 'echo' } });
  effect.command({ type: 'enter', params: { deliveryId } });
  return effect;
}

export function noteEnter(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'WRITTEN') return effect;
  const active = activeOf(context);
  const writeConfirmed = event.outcome === 'carried_out';
  effect.change(withActive(context, { enters: active.enters + 1, writeConfirmed }));
  if (active.enters === 0) {
    const mode = modeOf(context);
    const change: ReceiptChange = writeConfirmed
      ? { state: 'delivered', input: inputStatus(mode, 'submitted') }
      : { state: 'unknown', input: inputStatus(mode, 'unconfirmed') };
    effect.report(active.deliveryId, change);
    effect.startTimer('confirm', context.limits.confirmWindowMs);
  }
  effect.startTimer('retry', context.limits.enterRetryAfterMs);
  return effect;
}

export function countLook(context: InputContext, event: InputEvent): Effect {
  const seen = observed(event);
  const active = activeOf(context);
  return new Effect().change(
    withActive(context, {
      looks: active.looks + 1,
      composerDiscredited: active.composerDiscredited || seen.hold !== null,
      stashSeen: active.stashSeen || seen.stashed,
      echoSeen: active.echoSeen || (seen.composer && seen.draft !== 'empty'),
      pasteSeen:
        active.pasteSeen || seen.hold !== null || (seen.composer && seen.draft !== 'empty'),
    }),
  );
}

export function noteDeadline(context: InputContext): Effect {
  return new Effect().change(withActive(context, { deadlinePassed: true }));
}

export function noteRetryDue(context: InputContext): Effect {
  return new Effect().change(withActive(context, { retryDue: true }));
}

export function endTransaction(_context: InputContext): Effect {
  const effect = new Effect();
  for (const name of ['echo', 'retry', 'confirm'] as const) {
    effect.command({ type: 'stopTimer', params: { name } });
  }
  effect.command({ type: 'releaseLease' });
  return effect;
}

export function dropActive(context: InputContext): Effect {
  return new Effect().change({ active: null, unseen: unseenAfter(context) });
}
