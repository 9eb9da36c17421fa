import type { InputMode } from '@ostler/protocol';
import { observed } from '../guards.js';
import {
  type EndedDelivery,
  type InputContext,
  type InputEvent,
  inputStatus,
  type ReceiptChange,
} from '../machine-types.js';
import {
  creditAmong,
  endTurn,
  matchEvidence,
  type Outstanding,
  stampToleranceMs,
  withdrawnCode,
} from '../outstanding.js';
import { activeOf, modeOf, withActive } from './context.js';
import { Effect, type Step } from './effect.js';

export function acceptByScreen(evidence: 'composer_left' | 'queue_shown'): Step {
  return (context, event) => {
    const effect = new Effect();
    const { deliveryId } = activeOf(context);
    const { atMs } = observed(event);
    effect.change({
      ...withActive(context, { settled: true }),
      outstanding: context.outstanding.map((input) =>
        input.deliveryId === deliveryId
          ? {
              ...input,
              accepted: true,
              doubted: false,
              credited: [...input.credited, evidence],
            }
          : input,
      ),
      turnOpenSinceMs: atMs,
      ...(modeOf(context) === 'native_queue' ? { queuedSinceMs: atMs } : {}),
      startPendingSinceMs: context.awaitsTurnStart && modeOf(context) === 'direct' ? atMs : null,
    });
    const input = inputStatus(modeOf(context), 'accepted', { evidence });
    const change: ReceiptChange = { state: 'delivered', input, error: null };
    effect.report(deliveryId, change);
    return effect;
  };
}

/** Evidence may arrive at any moment and for any dispatched input, the active one included. */
export function creditEvidence(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'EVIDENCE') return effect;
  const { seen } = event;
  const match = matchEvidence(context.outstanding, seen);
  if (!match) return effect;
  effect.change({
    ...(context.active?.deliveryId === match.deliveryId
      ? withActive(context, { settled: true })
      : {}),
    outstanding: creditAmong(context.outstanding, match, seen),
    turnOpenSinceMs: event.nowMs,
    ...(match.mode === 'native_queue' && !match.accepted ? { queuedSinceMs: event.nowMs } : {}),
    ...(seen.kind === 'consumed' ? { startPendingSinceMs: null } : {}),
  });
  const { deliveryId, mode } = match;
  const input = inputStatus(mode, 'accepted', { evidence: seen.evidence });
  if (seen.kind === 'consumed') {
    const change: ReceiptChange = {
      state: 'started',
      input,
      error: null,
      turnStarted: seen,
    };
    effect.report(deliveryId, change);
  } else if (!match.accepted) {
    effect.report(deliveryId, { state: 'delivered', input, error: null });
  }
  return effect;
}

export function openTurn(_context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'TURN_STARTED') return effect;
  return effect.change({ turnOpenSinceMs: event.nowMs, startPendingSinceMs: null });
}

/** Only members the record itself names end with the turn. */
export function closeTurn(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'TURN_ENDED') return effect;
  const { end } = event;
  const { ended, left } = endTurn(context.outstanding, end.inputRefs);
  // Inputs that only stand between the turn's start and its end: one can be meant, several can't.
  const overlap = end.tie === 'order' && end.inputRefs.length > 1;
  effect.change({
    turnOpenSinceMs: null,
    startPendingSinceMs: null,
    queuedSinceMs: context.queuedSinceMs === null ? null : event.nowMs,
    outstanding: left,
  });
  const takenAt = ({ inputRef }: Outstanding): number => end.inputRefs.indexOf(inputRef ?? '');
  const inOrder = [...ended].sort((one, other) => takenAt(one.input) - takenAt(other.input));
  const deliveries = inOrder.map(({ input, told }): EndedDelivery => {
    const { deliveryId, mode } = input;
    if (!told) return { deliveryId, change: untold, isMember: false };
    if (overlap) return { deliveryId, change: overlapping, isMember: false };
    return { deliveryId, change: endOf(end.outcome, mode), isMember: end.tie !== 'order' };
  });
  effect.command({ type: 'endTurn', params: { end, deliveries } });
  for (const { deliveryId } of deliveries) effect.forget(deliveryId);
  return effect;
}

/** Their turn is over, and nothing will tell how. */
export function giveUpTies(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'UNTIED') return effect;
  const { ended, left } = endTurn(context.outstanding, event.inputRefs);
  effect.change({ outstanding: left });
  for (const { input } of ended) {
    effect.report(input.deliveryId, untied);
    effect.forget(input.deliveryId);
  }
  return effect;
}

const untied: ReceiptChange = {
  state: 'unknown',
  error: {
    code: 'RESULT_EVIDENCE_MISSING',
    message:
      "the turn that took this input is over, and the record does not tie it to the turn's end",
  },
};

const overlapping: ReceiptChange = {
  state: 'unknown',
  error: {
    code: 'OVERLAPPING_INPUTS',
    message:
      'several inputs went into one turn, and the record does not tell which of them it ended',
  },
};

const untold: ReceiptChange = {
  state: 'unknown',
  error: {
    code: 'RESULT_EVIDENCE_MISSING',
    message: 'equal texts went to different turns, and the record does not tell which to which',
  },
};

function endOf(outcome: 'completed' | 'failed' | 'cancelled', mode: InputMode): ReceiptChange {
  const input = inputStatus(mode, 'accepted', { evidence: 'record' });
  if (outcome === 'completed') return { state: 'completed', input, error: null };
  const error =
    outcome === 'cancelled'
      ? { code: 'TURN_INTERRUPTED', message: 'the turn that took this input was interrupted' }
      : {
          code: 'RESULT_NOT_COMPLETED',
          message: 'the turn that took this input ended in a failure',
        };
  return { state: 'unknown', input, error };
}

/** The engine gave queued text back: it is no longer on its way, and nothing says it never will be. */
export function withdraw(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'WITHDRAWN') return effect;
  const waiting = context.outstanding.filter(
    (input) =>
      input.accepted &&
      !input.consumed &&
      event.atMs + stampToleranceMs >= input.sinceMs &&
      (event.fingerprint === null || input.fingerprint === event.fingerprint),
  );
  effect.change({
    outstanding: context.outstanding.map((input) =>
      waiting.includes(input) ? { ...input, doubted: true, withdrawnAtMs: event.atMs } : input,
    ),
  });
  for (const { deliveryId } of waiting) {
    const change: ReceiptChange = {
      state: 'unknown',
      error: { code: withdrawnCode, message: 'the engine gave the queued text back unprocessed' },
    };
    effect.report(deliveryId, change);
  }
  return effect;
}
