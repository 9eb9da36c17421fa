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
 * Sorts an agent's unresolved receipts, oldest first. The paste of an input is announced right
 * before it, on the way the paste itself takes, and in the order of the keys: what was not
 * announced was not written. `ordinalOf` is that of a delivery, null where it is forgotten.
 */
export function restoredInputs(
  records: readonly DeliveryRecord[],
  identity: ProcessIdentity,
  left: LeftNote,
  ordinalOf: (deliveryId: string) => number | null,
): RestoredSession {
  const pairs = records.flatMap((record) => {
    const input = restored(record, identity, left.note);
    return input ? [{ input, record }] : [];
  });
  const inputs = pairs.map(({ input }) => input);
  const last = pairs.at(-1);
  if (!last || last.input.accepted) return { inputs, unwritten: [] };
  const { deliveryId } = last.input;
  const { note, writesSince } = left;
  const isAnnounced = note?.deliveryId === deliveryId;
  const isTakenBack = isAnnounced && note.reclaiming;
  const announced = isAnnounced ? 'this' : announcedBeside(note, last.record, ordinalOf);
  const unwritten =
    writesSince !== null &&
    (announced === 'older' || (announced === 'this' && writesSince === 0 && !isTakenBack));
  if (unwritten) return { inputs: inputs.slice(0, -1), unwritten: [deliveryId] };
  // Nothing is dispatched behind one that stands in the way.
  if (announced === 'newer') {
    const input = { ...last.input, isOver: true };
    return { inputs: [...inputs.slice(0, -1), input], unwritten: [] };
  }
  // One write was the paste: the Enter that was begun has not come.
  const noEnter = isTakenBack || (isAnnounced && writesSince === 1);
  const enterBegun = last.input.enterBegun && !noEnter;
  const ownWrites = isTakenBack ? 0 : enterBegun ? 2 : 1;
  const personTyped = !isAnnounced || writesSince === null || writesSince > ownWrites;
  const input = { ...last.input, enterBegun, personTyped, pasteSeen: isTakenBack };
  return { inputs: [...inputs.slice(0, -1), input], unwritten: [] };
}

/** Where the last announcement stands, which was not of this input; none at all is older than any. */
function announcedBeside(
  note: PastedNote | null,
  { ordinal }: DeliveryRecord,
  ordinalOf: (deliveryId: string) => number | null,
): 'older' | 'newer' | 'unknown' {
  const noted = note ? ordinalOf(note.deliveryId) : 0;
  if (noted === null) return 'unknown';
  return noted < ordinal ? 'older' : 'newer';
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
