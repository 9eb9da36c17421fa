import {
  type InputContext,
  type InputEvent,
  inputStatus,
  type ReceiptChange,
} from '../machine-types.js';
import { activeOf, modeOf, rejection, withActive } from './context.js';
import { Effect, type Step } from './effect.js';

export function doubt(code: string | null, message: string): Step {
  return (context, event) => {
    const effect = new Effect();
    const { deliveryId } = activeOf(context);
    const reason =
      code ??
      `enter_withheld:${(event.type === 'LOOKED' ? withheldFor(event.seen) : null) ?? 'unknown'}`;
    effect.change({
      ...withActive(context, { doubt: reason }),
      outstanding: context.outstanding.map((input) =>
        input.deliveryId === deliveryId ? { ...input, doubted: true } : input,
      ),
    });
    const change: ReceiptChange = {
      state: 'unknown',
      input: inputStatus(modeOf(context), 'unconfirmed'),
      error: { code: reason, message },
    };
    effect.report(deliveryId, change);
    return effect;
  };
}

function withheldFor(seen: { hold: string | null; readable: boolean; draft: string }): string {
  if (seen.hold) return seen.hold;
  if (!seen.readable) return 'unreadable';
  return seen.draft === 'empty' ? 'not_echoed' : 'draft_changed';
}

export const withholdEnter: Step = doubt(
  null,
  'the text was pasted, but Enter was not pressed: the screen did not show exactly our draft. Look at the terminal, then resolve the delivery',
);

export function reportBehindDoubt(context: InputContext): Effect {
  const effect = new Effect();
  const next = context.queue[0];
  if (!next) return effect;
  const input = inputStatus(context.busyMode, 'waiting_for_writer', { hold: 'unconfirmed_input' });
  effect.report(next.deliveryId, { input });
  return effect;
}

export function proveNotSubmitted(context: InputContext): Effect {
  const effect = new Effect();
  const { deliveryId, doubt: code } = activeOf(context);
  effect.change({
    active: null,
    outstanding: context.outstanding.filter((input) => input.deliveryId !== deliveryId),
  });
  const change = rejection(
    code ?? 'not_submitted',
    'Enter was never pressed and our text was taken back out of the composer: nothing was submitted',
  );
  effect.report(deliveryId, change);
  effect.forget(deliveryId);
  return effect;
}

export function startReclaim(context: InputContext): Effect {
  const effect = new Effect();
  const { deliveryId, reclaimRounds } = activeOf(context);
  effect.change(withActive(context, { reclaimRounds: reclaimRounds + 1 }));
  effect.command({ type: 'takeLease' });
  effect.command({ type: 'reclaim', params: { deliveryId } });
  const delayMs = context.limits.enterRetryAfterMs;
  effect.startTimer('retry', delayMs);
  return effect;
}

export function resolveByHand(context: InputContext, event: InputEvent): Effect {
  const effect = new Effect();
  if (event.type !== 'RESOLVE') return effect;
  const { deliveryId } = event;
  const input = context.outstanding.find((each) => each.deliveryId === deliveryId);
  if (!input?.doubted) return effect;
  if (event.outcome === 'not_submitted') {
    effect.change({
      outstanding: context.outstanding.filter((input) => input.deliveryId !== deliveryId),
    });
    const change = rejection('not_submitted', 'a person said that this input was not submitted');
    effect.report(deliveryId, change);
    effect.forget(deliveryId);
  } else if (event.outcome === 'submitted') {
    effect.report(deliveryId, { state: 'delivered', error: null });
  }
  if (context.active?.deliveryId === deliveryId) effect.change({ active: null });
  effect.change({ unseen: context.unseen.filter((each) => each.deliveryId !== deliveryId) });
  return effect;
}

export function endSession(context: InputContext): Effect {
  const effect = new Effect();
  const { active, queue, outstanding } = context;
  const undispatched = [...(active && active.mode === null ? [active] : []), ...queue];
  for (const { deliveryId } of undispatched) {
    const change = rejection('agent_gone', 'the agent ended before anything was written to it');
    effect.report(deliveryId, change);
  }
  for (const { deliveryId, mode, accepted } of outstanding) {
    const inTransaction = active?.deliveryId === deliveryId && !accepted;
    const change: ReceiptChange = {
      state: 'unknown',
      ...(accepted ? {} : { input: inputStatus(mode, 'unconfirmed') }),
      error: inTransaction
        ? {
            code: 'runtime_gone_post_paste',
            message: 'the agent ended while this input was being handed over',
          }
        : { code: 'AGENT_GONE', message: 'the agent ended before its record closed this input' },
    };
    effect.report(deliveryId, change);
  }
  effect.change({ active: null, queue: [], outstanding: [] });
  return effect;
}
