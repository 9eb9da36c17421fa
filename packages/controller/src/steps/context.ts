import type { InputMode } from '@ostler/protocol';
import type { ActiveInput, InputContext, ReceiptChange } from '../machine-types.js';

export function activeOf(context: InputContext): ActiveInput {
  if (!context.active) throw new TypeError('no input is active');
  return context.active;
}

/** The mode the active input was frozen at. */
export function modeOf(context: InputContext): InputMode {
  return context.active?.mode ?? 'direct';
}

/** A change of the active input; none where there is no such input. */
export function withActive(
  context: InputContext,
  change: Partial<ActiveInput>,
): Partial<InputContext> {
  return context.active ? { active: { ...context.active, ...change } } : {};
}

export const maxUnseenInputs = 64;

/** With the active input, where its paste has not been seen when it is let go. */
export function unseenAfter({ active, outstanding, unseen }: InputContext): InputContext['unseen'] {
  const input = outstanding.find(({ deliveryId }) => deliveryId === active?.deliveryId);
  if (!input || active?.echoSeen !== false) return unseen;
  const { deliveryId, fingerprint, sinceMs } = input;
  return [...unseen, { deliveryId, fingerprint, sinceMs }].slice(-maxUnseenInputs);
}

export function rejection(code: string, message: string): ReceiptChange {
  return { state: 'rejected', error: { code, message } };
}
