import type { Invariant } from './invariant.js';
import type { View } from './view.js';

const maxEntersCount = 3;

/** Why nobody may type on this view, or null. */
function forbids(view: View): string | null {
  if (view.hold !== null) return `the hold ${view.hold}`;
  if (!view.readable) return 'an unreadable screen';
  return view.draft === null ? 'no composer' : null;
}

export const writeInvariants: readonly Invariant[] = [
  {
    name: 'at-most-one-submission',
    sentence:
      'A key leads to at most one paste and one submission, over all retries, reconnects and restarts.',
    checks: {
      write: ({ what, delivery }) =>
        what === 'paste' && delivery && delivery.pastes > 0
          ? `${delivery.key} is pasted a second time`
          : null,
      submit: ({ sent, deliveries }) => {
        if (sent.by !== 'us') return null;
        const twice = deliveries.find(
          ({ submittedByUs, submittedByPerson, withdrawn }) =>
            submittedByUs > 0 || (submittedByPerson > 0 && !withdrawn),
        );
        return twice ? `${twice.key} is submitted a second time` : null;
      },
    },
  },
  {
    name: 'first-in-first-out',
    sentence: 'Within a session inputs are pasted and submitted in the order of their reservation.',
    checks: {
      write: ({ what, delivery, session }) =>
        what === 'paste' && delivery && delivery.order < session.lastPasted
          ? `${delivery.key} is pasted after a later one`
          : null,
      submit: ({ sent, deliveries, session }) => {
        const late = deliveries.find(({ order }) => order < session.lastSubmitted);
        return sent.by === 'us' && late ? `${late.key} is submitted after a later one` : null;
      },
    },
  },
  {
    name: 'no-byte-under-a-stale-token',
    sentence: 'A byte leaves only under the fencing token given out last, while its lease lasts.',
    checks: {
      write: ({ leaving: { token, newestToken } }) =>
        token === newestToken && token !== null
          ? null
          : `token ${token} wrote, ${newestToken ?? 'none'} was in force`,
    },
  },
  {
    name: 'no-byte-past-a-hold',
    sentence:
      'No input byte leaves while the last look shows a hold, an unreadable screen or a draft that is not ours.',
    checks: {
      write: ({ what, delivery, leaving: { look } }) => {
        if (what === 'control') return null;
        if (!look) return 'nobody had looked';
        const forbidden = forbids(look.view);
        if (forbidden !== null) return `the last look showed ${forbidden}`;
        if (what === 'paste' && look.view.draft !== '') {
          return `the last look showed the draft ${JSON.stringify(look.view.draft)}`;
        }
        return what === 'erase' && look.view.draft !== delivery?.text
          ? 'the last look did not show exactly our draft'
          : null;
      },
    },
  },
  {
    name: 'no-enter-without-a-look',
    sentence:
      'Enter leaves only after a look newer than every byte of ours that shows exactly our draft; the first is the only one after a write in doubt, and there are three at most.',
    checks: {
      write: ({ what, delivery, session, leaving: { look } }) => {
        if (what !== 'enter') return null;
        if (!delivery) return 'Enter for no delivery';
        if (!look || look.order < session.lastWriteOrder) return 'no look since the last byte';
        if (look.view.draft !== delivery.text) {
          return `the look showed ${JSON.stringify(look.view.draft)}, not ${delivery.key}`;
        }
        if (delivery.enters >= maxEntersCount) return `a fourth Enter for ${delivery.key}`;
        return delivery.enters > 0 && delivery.lastWrite !== 'carried_out'
          ? `another Enter for ${delivery.key} after one that is ${delivery.lastWrite ?? 'under way'}`
          : null;
      },
    },
  },
  {
    name: 'no-byte-after-the-end',
    sentence: 'Nothing is written for an input whose receipt is settled.',
    checks: {
      write: ({ what, delivery }) =>
        (what === 'paste' || what === 'enter') &&
        delivery &&
        ['rejected', 'completed'].includes(delivery.receipt.state)
          ? `${delivery.key} was ${delivery.receipt.state} already`
          : null,
    },
  },
  {
    name: 'no-merged-messages',
    sentence: 'What our Enter submits is one input of ours, whole, and nothing else.',
    checks: {
      submit: ({ sent, pieces, deliveries }) => {
        if (sent.by !== 'us') return null;
        const [ours] = deliveries;
        const text = pieces.map((piece) => piece.text).join('');
        return pieces.length === 1 && ours?.text === text
          ? null
          : `our Enter submitted ${JSON.stringify(text)}`;
      },
    },
  },
  {
    name: 'no-dialog-answered',
    sentence:
      'No key of ours acts on a dialog that had reached our screen, but an answer on the question it was asked for.',
    checks: {
      dialog: ({ session, dialog, sent, seen }) => {
        if (sent.by !== 'us' || !seen) return null;
        const { view, what } = seen;
        const meant = what === 'control' && session.answering.has(dialog.number);
        const visible = view?.dialog?.number === dialog.number;
        return visible && !meant ? `${what} acted on dialog ${dialog.number}, in sight` : null;
      },
      write: ({ what, session, leaving: { look, data } }) =>
        what === 'control' &&
        data === '1' &&
        !session.answering.has(look?.view.dialog?.number ?? -1)
          ? 'an answer left for a question that is not in front'
          : null,
    },
  },
  {
    name: 'no-byte-to-a-shell',
    sentence: 'Nothing of ours reaches the shell an engine has left, once it had been in sight.',
    checks: {
      shell: (seen) =>
        seen?.view?.hold === 'shell' && seen.what !== 'control'
          ? `a shell in sight read our ${seen.what}`
          : null,
    },
  },
  {
    name: 'no-text-of-a-person-erased',
    sentence: 'Taking our text back never takes a text of a person with it that was in sight.',
    checks: {
      erase: ({ pieces, seen }) => {
        const shown = seen?.draft ?? '';
        const lost = pieces.find(({ kind, text }) => kind === 'typed' && shown.includes(text));
        return lost ? `a person's ${JSON.stringify(lost.text)} was erased` : null;
      },
    },
  },
];
