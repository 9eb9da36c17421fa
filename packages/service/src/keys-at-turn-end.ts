import type { TurnEnd } from '@ostler/controller';
import type { Receipt, ReceiptChange } from '@ostler/protocol';

/**
 * What the end of the turn that keys went into, by the engine's own record, says of their receipt.
 * A stop is done when its turn is over. An answer went the way of its turn: the engine asks no
 * more, so it has taken one, and only keys that were seen to answer are held to be it.
 */
export function keysAtTurnEnd(
  { operation, state }: Receipt,
  { outcome }: Pick<TurnEnd, 'outcome'>,
): ReceiptChange | null {
  if (operation === 'turn.send') return null;
  if (operation === 'turn.stop') {
    return state === 'delivered' || outcome === 'cancelled' ? { state: 'completed' } : null;
  }
  if (state !== 'delivered') return null;
  switch (outcome) {
    case 'completed':
      return { state: 'completed' };
    case 'cancelled':
      return inDoubt('TURN_INTERRUPTED', 'the turn was interrupted after the answer');
    case 'failed':
      return inDoubt('RESULT_NOT_COMPLETED', 'the turn failed after the answer');
  }
}

const inDoubt = (code: string, message: string): ReceiptChange => ({
  state: 'unknown',
  error: { code, message },
});
