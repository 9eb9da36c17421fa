import { isSettled, phaseRank, type Receipt, type WaitUntil } from '@ostler/protocol';

/** A settled receipt ends every wait: its goal is reached or never will be. An unknown one may still rise. */
export function hasReached(receipt: Receipt, until: WaitUntil): boolean {
  if (isSettled(receipt.state)) return true;
  switch (until) {
    case 'accepted':
      return (
        receipt.state === 'started' ||
        // Of keys, an answer's or a stop's: they were seen to take effect.
        (receipt.operation !== 'turn.send' && receipt.state === 'delivered') ||
        (receipt.input !== undefined && phaseRank(receipt.input.phase) >= phaseRank('accepted'))
      );
    case 'started':
      return receipt.state === 'started';
    case 'settled':
      return false;
  }
}
