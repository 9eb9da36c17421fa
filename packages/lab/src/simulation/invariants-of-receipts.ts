import type { Receipt } from '@ostler/protocol';
import type { Invariant } from './invariant.js';
import type { DeliveryTruth } from './truth.js';

const mayFollow: Readonly<Record<Receipt['state'], readonly Receipt['state'][]>> = {
  queued: ['queued', 'delivered', 'started', 'unknown', 'completed', 'rejected'],
  delivered: ['delivered', 'started', 'completed', 'unknown', 'rejected'],
  started: ['started', 'completed', 'unknown'],
  unknown: ['unknown', 'delivered', 'started', 'completed', 'rejected'],
  completed: [],
  rejected: [],
};
const phaseOrder = ['submitted', 'unconfirmed', 'accepted'];

/** How long an undisturbed session may take from a reservation to its acceptance. */
const calmLimitMs = 20_000;

const submissions = ({ submittedByUs, submittedByPerson }: DeliveryTruth): number =>
  submittedByUs + submittedByPerson;

function isDown(before: Receipt, after: Receipt): string | null {
  if (!mayFollow[before.state].includes(after.state)) return `${before.state} → ${after.state}`;
  if (before.turnId !== null && after.turnId !== before.turnId) return 'another turn';
  if (before.turnId !== null && !['started', 'completed', 'unknown'].includes(after.state)) {
    return 'a start taken back';
  }
  const from = phaseOrder.indexOf(before.input?.phase ?? '');
  const to = phaseOrder.indexOf(after.input?.phase ?? '');
  return to < from ? `${before.input?.phase} → ${after.input?.phase}` : null;
}

export const receiptInvariants: readonly Invariant[] = [
  {
    name: 'accepted-is-true',
    sentence: 'A receipt says accepted only once the engine really has the input.',
    checks: {
      receipt: ({ delivery, before, after }) =>
        after.input?.phase === 'accepted' &&
        before.input?.phase !== 'accepted' &&
        submissions(delivery) === 0
          ? `${delivery.key} is accepted by ${after.input.evidence}, and the engine has not got it`
          : null,
    },
  },
  {
    name: 'started-is-true',
    sentence: 'A receipt says started only once the engine has taken the input into a turn.',
    checks: {
      receipt: ({ delivery, after }) =>
        after.state === 'started' && delivery.consumed === 0
          ? `${delivery.key} is started, and no turn has it`
          : null,
    },
  },
  {
    name: 'completed-is-true',
    sentence: "A receipt says completed only where the engine's own record closed its turn.",
    checks: {
      receipt: ({ delivery, after }) =>
        delivery.operation === 'turn.send' &&
        after.state === 'completed' &&
        delivery.turnEnded !== 'completed'
          ? `${delivery.key} is completed, and its turn is ${delivery.turnEnded ?? 'open'}`
          : null,
    },
  },
  {
    name: 'a-result-is-true',
    sentence:
      'A result names only inputs whose own turn it closes, once each, and goes to their owner alone.',
    checks: {
      result: ({ result, isPrivate, members, earlier }) => {
        if (!isPrivate) return 'a result goes to somebody else';
        if (earlier > 0) return 'an input is answered a second time';
        for (const member of members) {
          if (!member) return 'a result names an input that nobody sent';
          const { answer, key, turnEnded } = member;
          if (turnEnded !== result.outcome || answer !== result.fullText) {
            return `${key} is answered by "${result.fullText}" (${result.outcome}), and its turn says "${answer}" (${turnEnded ?? 'open'})`;
          }
        }
        return null;
      },
    },
  },
  {
    name: 'rejected-is-true',
    sentence: 'A receipt says rejected only where the engine never got the input submitted.',
    checks: {
      receipt: ({ delivery, after }) =>
        after.state === 'rejected' && submissions(delivery) > 0 && !delivery.resolved
          ? `${delivery.key} is rejected (${after.error?.code}), and the engine has it`
          : null,
      submit: ({ deliveries }) => {
        const late = deliveries.find(
          ({ receipt, resolved }) => receipt.state === 'rejected' && !resolved,
        );
        return late ? `${late.key} was rejected and is submitted after all` : null;
      },
    },
  },
  {
    name: 'nothing-moves-down',
    sentence: 'No change moves a receipt, its phase or its turn down.',
    checks: {
      receipt: ({ delivery, before, after }) => {
        const down = isDown(before, after);
        return down === null ? null : `${delivery.key}: ${down}`;
      },
    },
  },
  {
    name: 'mode-stays',
    sentence: 'The mode is frozen by the dispatch.',
    checks: {
      receipt: ({ delivery, before, after }) =>
        delivery.pastes > 0 && before.input?.mode !== after.input?.mode
          ? `${delivery.key}: ${before.input?.mode} → ${after.input?.mode}`
          : null,
    },
  },
  {
    name: 'a-duplicate-gets-the-receipt',
    sentence:
      'A request with a known key gets the stored receipt of its delivery, or a conflict where it means something else.',
    checks: {
      reply: ({ key, reply, stored, earlier, sameIntent }) => {
        if (!sameIntent) return `${key} was answered though it means something else now`;
        if (!earlier) return null;
        if (reply.status !== 'duplicate') return `${key} was taken a second time`;
        const { receipt } = reply;
        return receipt.deliveryId === earlier.deliveryId &&
          JSON.stringify(receipt) === JSON.stringify(stored)
          ? null
          : `${key} got a receipt that is not the stored one`;
      },
    },
  },
  {
    name: 'everything-is-bounded',
    sentence: 'Waiting inputs, their bytes and unresolved inputs stay within their limits.',
    checks: {
      depth: ({ waiting, waitingBytes, unresolved, limits }) => {
        // The active one has a slot of its own.
        if (waiting > limits.maxWaitingItems + 1) return `${waiting} inputs wait`;
        if (waitingBytes > limits.maxWaitingBytes) return `${waitingBytes} bytes wait`;
        return unresolved > limits.maxUnresolvedItems + 1 ? `${unresolved} are unresolved` : null;
      },
    },
  },
  {
    name: 'nobody-waits-without-a-reason',
    sentence:
      'Once no dialog, draft or turn is in the way any more, nothing waits; and what waits says why.',
    checks: {
      rest: ({ session, deliveries, phase }) => {
        const waiting = deliveries.find(({ receipt }) => receipt.state === 'queued');
        if (waiting) {
          const { input } = waiting.receipt;
          return `${waiting.key} still waits (${input?.phase} ${input?.hold ?? ''}), the session is ${phase}`;
        }
        return phase === 'idle' ? null : `session ${session.index} is still ${phase}`;
      },
    },
  },
  {
    name: 'evidence-is-used',
    sentence:
      "Where the engine's record or hook has told a living session of an input, its receipt is not left in doubt of the acceptance.",
    checks: {
      rest: ({ deliveries }) => {
        const doubted = deliveries.find(
          ({ evidenceAtMs, receipt, resolved }) =>
            evidenceAtMs !== null &&
            !resolved &&
            receipt.operation === 'turn.send' &&
            receipt.state !== 'completed' &&
            receipt.input?.phase !== 'accepted',
        );
        return doubted
          ? `${doubted.key} is ${doubted.receipt.state} (${doubted.receipt.error?.code}), and the record has told of it`
          : null;
      },
    },
  },
  {
    name: 'sessions-wait-for-nobody',
    sentence: 'A session in no trouble of its own takes its inputs, whatever happens to another.',
    checks: {
      end: ({ deliveries, calmSession }) => {
        const late = deliveries.find(
          ({ session, operation, receipt, reservedAtMs, acceptedAtMs }) =>
            session === calmSession &&
            operation === 'turn.send' &&
            !['slash_command', 'queue_full'].includes(receipt.error?.code ?? '') &&
            (acceptedAtMs === null || acceptedAtMs - reservedAtMs > calmLimitMs),
        );
        return late ? `${late.key} waited for another session` : null;
      },
    },
  },
];
