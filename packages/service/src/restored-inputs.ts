import type { PastedNote, RestoredInput } from '@ostler/controller';
import type { DeliveryRecord } from '@ostler/store';
import type { ProcessIdentity } from '@ostler/terminal';

/** What the terminal's own process knows of the last transaction of the daemon before this one. */
export interface LeftNote {
  /** The last input whose paste was announced to it; null: none ever was. */
  readonly note: PastedNote | null;
  /** Writes it has taken on since the announcement; null where it doesn't count them. */
  readonly writesSince: number | null;
}

export interface RestoredSession {
  /** Dispatched into this very process and possibly still on their way, oldest first. */
  readonly inputs: readonly RestoredInput[];
  /** Journalled as dispatched, and proven never to have been written. */
  readonly unwritten: readonly string[];
}

/** Errors of receipts whose input may still stand between us and the engine. */
const undecided: ReadonlySet<string> = new Set([
  'DAEMON_RESTART',
  'input_acceptance_unconfirmed',
  'cancelled_after_paste',
  'dispatch_ambiguous',
  'NOT_CONFIRMED',
]);
const isUndecided = (code: string): boolean =>
  undecided.has(code) || code.startsWith('enter_withheld');

/**
 * Sorts an agent's unresolved receipts, oldest first. `leftInFlight` are those the process right
 * before this one was about to settle. The paste of an input is announced right
 * before it, on the way the paste itself takes: what was not announced was not written.
 */
export function restoredInputs(
  records: readonly DeliveryRecord[],
  identity: ProcessIdentity,
  left: LeftNote,
  leftInFlight: ReadonlySet<string>,
): RestoredSession {
  const inputs = records.flatMap((record) => restored(record, identity, left.note) ?? []);
  const last = inputs.at(-1);
  if (!last || last.accepted) return { inputs, unwritten: [] };
  const { note, writesSince } = left;
  const announced = note?.deliveryId === last.deliveryId;
  // The note is of the process before this one: it proves nothing of what an earlier one left.
  const isNew = leftInFlight.has(last.deliveryId);
  if (isNew && (!announced || writesSince === 0)) {
    return { inputs: inputs.slice(0, -1), unwritten: [last.deliveryId] };
  }
  // One write was the paste: the Enter that was begun has not come.
  const enterBegun = last.enterBegun && !(isNew && writesSince === 1);
  const ownWrites = enterBegun ? 2 : 1;
  const personTyped = !announced || writesSince === null || writesSince > ownWrites;
  return { inputs: [...inputs.slice(0, -1), { ...last, enterBegun, personTyped }], unwritten: [] };
}

function restored(
  { dispatch, receipt, steps }: DeliveryRecord,
  identity: ProcessIdentity,
  note: PastedNote | null,
): RestoredInput | null {
  const { deliveryId, error, input, operation } = receipt;
  if (operation !== 'turn.send' || !dispatch || dispatch.fingerprint === null) return null;
  if (dispatch.pid !== identity.pid || dispatch.startTime !== identity.startTime) return null;
  if (error && !isUndecided(error.code)) return null;
  const enter = steps.find(({ step }) => step === 'enter_begun');
  return {
    deliveryId,
    fingerprint: dispatch.fingerprint,
    mode: dispatch.mode ?? 'direct',
    sinceMs: enter?.atMs ?? dispatch.atMs,
    accepted: input?.phase === 'accepted',
    enterBegun: enter !== undefined,
    doubt: error?.code ?? 'DAEMON_RESTART',
    text: note?.deliveryId === deliveryId ? note.text : null,
  };
}
