import type { InputMode } from '@ostler/protocol';
import {
  type AnyActorScope,
  type AnyStateMachine,
  and,
  createActor,
  initialTransition,
  or,
  type SnapshotFrom,
  setup,
} from 'xstate';
import { guards, holdAt, isBusy, observed } from './guards.js';
import { type ControllerLimits, defaultLimits } from './limits.js';
import {
  type ActiveInput,
  type InputCommand,
  type InputContext,
  type InputEvent,
  inputStatus,
  type ReceiptChange,
  type TimerName,
} from './machine-types.js';
import { waitingPhase } from './observation.js';
import { creditAmong, endTurn, matchEvidence, unresolvedCount } from './outstanding.js';
import { fits } from './waiting-queue.js';

interface MachineInput {
  readonly limits: ControllerLimits;
  readonly busyMode: InputMode;
  readonly awaitsTurnStart: boolean;
}

const unexecuted = (): void => undefined;

const room = setup({
  types: {
    context: {} as InputContext,
    events: {} as InputEvent,
    input: {} as MachineInput,
  },
  guards,
  actions: {
    takeLease: unexecuted,
    releaseLease: unexecuted,
    look: unexecuted,
    grantControl: unexecuted,
    journal: (_, _params: { deliveryId: string; mode: InputMode }) => undefined,
    paste: (_, _params: { deliveryId: string }) => undefined,
    enter: (_, _params: { deliveryId: string }) => undefined,
    reclaim: (_, _params: { deliveryId: string }) => undefined,
    forget: (_, _params: { deliveryId: string }) => undefined,
    startTimer: (_, _params: { name: TimerName; delayMs: number }) => undefined,
    stopTimer: (_, _params: { name: TimerName }) => undefined,
    report: (_, _params: { deliveryId: string; change: ReceiptChange }) => undefined,
  },
});

const activeOf = (context: InputContext): ActiveInput => {
  if (!context.active) throw new TypeError('no input is active');
  return context.active;
};

const rejection = (code: string, message: string): ReceiptChange => ({
  state: 'rejected',
  error: { code, message },
});

const modeOf = (context: InputContext): InputMode => context.active?.mode ?? 'direct';

const admit = room.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'SUBMIT') return;
  const { input } = event;
  const idle = context.active === null && context.queue.length === 0;
  const full =
    unresolvedCount(context.outstanding) >= context.limits.maxUnresolvedItems ||
    !(idle || fits(context.queue, input, context.limits));
  if (full) {
    const change = rejection(
      'queue_full',
      'the session already holds as many inputs as it may; wait for one to be accepted, then send again with a new key',
    );
    enqueue({ type: 'report', params: { deliveryId: input.deliveryId, change } });
    enqueue({ type: 'forget', params: { deliveryId: input.deliveryId } });
    return;
  }
  enqueue.assign({ queue: [...context.queue, input] });
  // What waits behind something says so at once; what may go now is about to say more.
  if (!idle) {
    const mode = context.turnOpenSinceMs === null ? 'direct' : context.busyMode;
    const behindDoubt = context.active?.doubt != null ? { hold: 'unconfirmed_input' } : {};
    const change = { input: inputStatus(mode, 'waiting_for_writer', behindDoubt) };
    enqueue({ type: 'report', params: { deliveryId: input.deliveryId, change } });
  }
});

const takeNext = room.assign(({ context }) => {
  const [next, ...queue] = context.queue;
  if (!next || context.active) return {};
  const active: ActiveInput = {
    ...next,
    mode: null,
    reported: '',
    enters: 0,
    writeConfirmed: false,
    retryDue: false,
    deadlinePassed: false,
    looks: 0,
    composerDiscredited: false,
    pasteSeen: false,
    stashSeen: false,
    settled: false,
    doubt: null,
    reclaimRounds: 0,
  };
  return { queue, active };
});

const withActive = (context: InputContext, change: Partial<ActiveInput>): Partial<InputContext> =>
  context.active ? { active: { ...context.active, ...change } } : {};

const reportHeld = room.enqueueActions(({ context, event, enqueue }) => {
  const seen = observed(event);
  const active = activeOf(context);
  const hold = holdAt(context, seen);
  const mode = isBusy(context, seen) ? context.busyMode : 'direct';
  const input =
    hold === null
      ? inputStatus(mode, 'waiting_for_turn')
      : inputStatus(mode, waitingPhase(hold), { hold });
  const reported = `${input.mode} ${input.phase} ${hold ?? ''}`;
  // These two end by time as well, and nothing on the screen may tell.
  if (hold === null || hold === 'turn_starting') {
    const delayMs = hold === null ? context.limits.idleSettleMs : context.limits.turnStartMs;
    enqueue({ type: 'startTimer', params: { name: 'idle', delayMs } });
  }
  if (reported === active.reported) return;
  enqueue.assign(({ context }) => withActive(context, { reported }));
  enqueue({ type: 'report', params: { deliveryId: active.deliveryId, change: { input } } });
});

const rejectActive = (code: string, message: string) =>
  room.enqueueActions(({ context, enqueue }) => {
    const { deliveryId } = activeOf(context);
    enqueue.assign(({ context }) => ({
      active: null,
      outstanding: context.outstanding.filter((input) => input.deliveryId !== deliveryId),
    }));
    enqueue({ type: 'report', params: { deliveryId, change: rejection(code, message) } });
    enqueue({ type: 'forget', params: { deliveryId } });
  });

const rejectRefused = room.enqueueActions(({ context, event, enqueue }) => {
  const { refusal } = observed(event);
  const { deliveryId } = activeOf(context);
  if (!refusal) return;
  enqueue.assign({ active: null });
  enqueue({
    type: 'report',
    params: { deliveryId, change: rejection(refusal.reason, refusal.message) },
  });
  enqueue({ type: 'forget', params: { deliveryId } });
});

const freezeMode = room.enqueueActions(({ context, event, enqueue }) => {
  const { deliveryId, reported } = activeOf(context);
  const mode = isBusy(context, observed(event)) ? context.busyMode : 'direct';
  enqueue.assign(({ context }) => withActive(context, { mode }));
  if (reported !== '') {
    // The wait that was reported is over.
    const change = { input: inputStatus(mode, 'waiting_for_writer') };
    enqueue({ type: 'report', params: { deliveryId, change } });
  }
  enqueue({ type: 'journal', params: { deliveryId, mode } });
});

const rejectUnjournalled = room.enqueueActions(({ context, event, enqueue }) => {
  const { deliveryId } = activeOf(context);
  const why = event.type === 'JOURNAL_FAILED' ? event.message : '';
  enqueue.assign({ active: null });
  const change = rejection(
    'INTERNAL',
    `the dispatch could not be recorded, so nothing was written: ${why}`,
  );
  enqueue({ type: 'report', params: { deliveryId, change } });
  enqueue({ type: 'forget', params: { deliveryId } });
});

/** From here on the input is matched against the engine's record. */
const trackActive = room.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'JOURNALLED') return;
  const { deliveryId, fingerprint, mode } = activeOf(context);
  enqueue.assign({
    outstanding: [
      ...context.outstanding,
      {
        deliveryId,
        fingerprint,
        mode: mode ?? 'direct',
        pastedAtMs: event.pastedAtMs,
        credited: [],
        accepted: false,
        doubted: false,
        consumed: false,
        inputRef: null,
        turnRef: null,
        tie: 'own',
      },
    ],
  });
  enqueue({ type: 'paste', params: { deliveryId } });
  enqueue({ type: 'startTimer', params: { name: 'echo', delayMs: context.limits.echoDeadlineMs } });
});

const pressEnter = room.enqueueActions(({ context, enqueue }) => {
  const { deliveryId, enters, deadlinePassed } = activeOf(context);
  enqueue.assign(({ context }) =>
    withActive(context, {
      retryDue: false,
      writeConfirmed: false,
      // The echo's deadline is over with the first Enter; the one for evidence spans all of them.
      deadlinePassed: enters > 0 && deadlinePassed,
    }),
  );
  enqueue({ type: 'stopTimer', params: { name: 'echo' } });
  enqueue({ type: 'enter', params: { deliveryId } });
});

const noteEnter = room.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'WRITTEN') return;
  const active = activeOf(context);
  const writeConfirmed = event.outcome === 'carried_out';
  enqueue.assign(({ context }) =>
    withActive(context, { enters: active.enters + 1, writeConfirmed }),
  );
  if (active.enters === 0) {
    const mode = modeOf(context);
    const change: ReceiptChange = writeConfirmed
      ? { state: 'delivered', input: inputStatus(mode, 'submitted') }
      : { state: 'unknown', input: inputStatus(mode, 'unconfirmed') };
    enqueue({ type: 'report', params: { deliveryId: active.deliveryId, change } });
    enqueue({
      type: 'startTimer',
      params: { name: 'confirm', delayMs: context.limits.confirmWindowMs },
    });
  }
  enqueue({
    type: 'startTimer',
    params: { name: 'retry', delayMs: context.limits.enterRetryAfterMs },
  });
});

const countLook = room.assign(({ context, event }) => {
  const seen = observed(event);
  const active = activeOf(context);
  return withActive(context, {
    looks: active.looks + 1,
    composerDiscredited: active.composerDiscredited || seen.hold !== null,
    stashSeen: active.stashSeen || seen.stashed,
    pasteSeen: active.pasteSeen || seen.hold !== null || (seen.composer && seen.draft !== 'empty'),
  });
});

const noteDeadline = room.assign(({ context }) => withActive(context, { deadlinePassed: true }));
const noteRetryDue = room.assign(({ context }) => withActive(context, { retryDue: true }));

const acceptByScreen = (evidence: 'composer_left' | 'queue_shown') =>
  room.enqueueActions(({ context, event, enqueue }) => {
    const { deliveryId } = activeOf(context);
    const { atMs } = observed(event);
    enqueue.assign(({ context }) => ({
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
      startPendingSinceMs: context.awaitsTurnStart && modeOf(context) === 'direct' ? atMs : null,
    }));
    const input = inputStatus(modeOf(context), 'accepted', { evidence });
    const change: ReceiptChange = { state: 'delivered', input, error: null };
    enqueue({ type: 'report', params: { deliveryId, change } });
  });

/** Evidence may arrive at any moment and for any dispatched input, the active one included. */
const creditEvidence = room.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'EVIDENCE') return;
  const { seen } = event;
  const match = matchEvidence(context.outstanding, seen);
  if (!match) return;
  enqueue.assign(({ context }) => ({
    ...(context.active?.deliveryId === match.deliveryId
      ? withActive(context, { settled: true })
      : {}),
    outstanding: creditAmong(context.outstanding, match, seen),
    turnOpenSinceMs: event.nowMs,
    ...(seen.kind === 'consumed' ? { startPendingSinceMs: null } : {}),
  }));
  const { deliveryId, mode } = match;
  const input = inputStatus(mode, 'accepted', { evidence: seen.evidence });
  if (seen.kind === 'consumed') {
    const change: ReceiptChange = {
      state: 'started',
      input,
      error: null,
      turnStarted: { turnRef: seen.turnRef },
    };
    enqueue({ type: 'report', params: { deliveryId, change } });
  } else if (!match.accepted) {
    enqueue({
      type: 'report',
      params: { deliveryId, change: { state: 'delivered', input, error: null } },
    });
  }
});

const openTurn = room.assign(({ event }) =>
  event.type === 'TURN_STARTED' ? { turnOpenSinceMs: event.nowMs, startPendingSinceMs: null } : {},
);

/** Only members the record itself names end with the turn. */
const closeTurn = room.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'TURN_ENDED') return;
  const { ended, left } = endTurn(context.outstanding, event.inputRefs);
  enqueue.assign({ turnOpenSinceMs: null, startPendingSinceMs: null, outstanding: left });
  for (const { input, told } of ended) {
    const { deliveryId, mode } = input;
    const change = told ? endOf(event.outcome, mode) : untold;
    enqueue({ type: 'report', params: { deliveryId, change } });
    enqueue({ type: 'forget', params: { deliveryId } });
  }
});

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
const withdraw = room.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'WITHDRAWN') return;
  const waiting = context.outstanding.filter(
    (input) =>
      input.accepted &&
      !input.consumed &&
      (event.fingerprint === null || input.fingerprint === event.fingerprint),
  );
  enqueue.assign(({ context }) => ({
    outstanding: context.outstanding.map((input) =>
      waiting.includes(input) ? { ...input, doubted: true } : input,
    ),
  }));
  for (const { deliveryId } of waiting) {
    const change: ReceiptChange = {
      state: 'unknown',
      error: { code: 'NOT_CONFIRMED', message: 'the engine gave the queued text back unprocessed' },
    };
    enqueue({ type: 'report', params: { deliveryId, change } });
  }
});

const doubt = (code: string | null, message: string) =>
  room.enqueueActions(({ context, event, enqueue }) => {
    const { deliveryId } = activeOf(context);
    const reason =
      code ??
      `enter_withheld:${(event.type === 'LOOKED' ? withheldFor(event.seen) : null) ?? 'unknown'}`;
    enqueue.assign(({ context }) => ({
      ...withActive(context, { doubt: reason }),
      outstanding: context.outstanding.map((input) =>
        input.deliveryId === deliveryId ? { ...input, doubted: true } : input,
      ),
    }));
    const change: ReceiptChange = {
      state: 'unknown',
      input: inputStatus(modeOf(context), 'unconfirmed'),
      error: { code: reason, message },
    };
    enqueue({ type: 'report', params: { deliveryId, change } });
  });

function withheldFor(seen: { hold: string | null; readable: boolean; draft: string }): string {
  if (seen.hold) return seen.hold;
  if (!seen.readable) return 'unreadable';
  return seen.draft === 'empty' ? 'not_echoed' : 'draft_changed';
}

const withholdEnter = doubt(
  null,
  'the text was pasted, but Enter was not pressed: the screen did not show exactly our draft. Look at the terminal, then resolve the delivery',
);

const endTransaction = room.enqueueActions(({ enqueue }) => {
  for (const name of ['echo', 'retry', 'confirm'] as const) {
    enqueue({ type: 'stopTimer', params: { name } });
  }
  enqueue({ type: 'releaseLease' });
});

const dropActive = room.assign({ active: null });

const reportBehindDoubt = room.enqueueActions(({ context, enqueue }) => {
  const next = context.queue[0];
  if (!next) return;
  const input = inputStatus(context.busyMode, 'waiting_for_writer', { hold: 'unconfirmed_input' });
  enqueue({ type: 'report', params: { deliveryId: next.deliveryId, change: { input } } });
});

const proveNotSubmitted = room.enqueueActions(({ context, enqueue }) => {
  const { deliveryId, doubt: code } = activeOf(context);
  enqueue.assign(({ context }) => ({
    active: null,
    outstanding: context.outstanding.filter((input) => input.deliveryId !== deliveryId),
  }));
  const change = rejection(
    code ?? 'not_submitted',
    'Enter was never pressed and our text was taken back out of the composer: nothing was submitted',
  );
  enqueue({ type: 'report', params: { deliveryId, change } });
  enqueue({ type: 'forget', params: { deliveryId } });
});

const startReclaim = room.enqueueActions(({ context, enqueue }) => {
  const { deliveryId, reclaimRounds } = activeOf(context);
  enqueue.assign(({ context }) => withActive(context, { reclaimRounds: reclaimRounds + 1 }));
  enqueue({ type: 'takeLease' });
  enqueue({ type: 'reclaim', params: { deliveryId } });
  const delayMs = context.limits.enterRetryAfterMs;
  enqueue({ type: 'startTimer', params: { name: 'retry', delayMs } });
});

const resolveByHand = room.enqueueActions(({ event, enqueue }) => {
  if (event.type !== 'RESOLVE') return;
  const { deliveryId } = event;
  if (event.outcome === 'not_submitted') {
    enqueue.assign(({ context }) => ({
      outstanding: context.outstanding.filter((input) => input.deliveryId !== deliveryId),
    }));
    const change = rejection('not_submitted', 'a person said that this input was not submitted');
    enqueue({ type: 'report', params: { deliveryId, change } });
    enqueue({ type: 'forget', params: { deliveryId } });
  } else if (event.outcome === 'submitted') {
    enqueue({
      type: 'report',
      params: { deliveryId, change: { state: 'delivered', error: null } },
    });
  }
  enqueue.assign({ active: null });
});

const dropWaiting = (code: string, message: string) =>
  room.enqueueActions(({ context, event, enqueue }) => {
    if (!('deliveryId' in event)) return;
    const { deliveryId } = event;
    if (!context.queue.some((input) => input.deliveryId === deliveryId)) return;
    enqueue.assign({ queue: context.queue.filter((input) => input.deliveryId !== deliveryId) });
    enqueue({ type: 'report', params: { deliveryId, change: rejection(code, message) } });
    enqueue({ type: 'forget', params: { deliveryId } });
  });

const cancelMessage = 'cancelled by its sender before anything was written';
const expiredMessage = 'waited as long as an input may, and was never written';

const endSession = room.enqueueActions(({ context, enqueue }) => {
  const { active, queue, outstanding } = context;
  const undispatched = [...(active && active.mode === null ? [active] : []), ...queue];
  for (const { deliveryId } of undispatched) {
    const change = rejection('agent_gone', 'the agent ended before anything was written to it');
    enqueue({ type: 'report', params: { deliveryId, change } });
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
    enqueue({ type: 'report', params: { deliveryId, change } });
  }
  enqueue.assign({ active: null, queue: [], outstanding: [] });
});

/** Before the first byte a wish to stop is proven; `CANCEL` and `EXPIRED` then end the input. */
const undispatchedExits = {
  CANCEL: [
    {
      guard: 'isActive',
      target: 'idle',
      actions: [rejectActive('cancelled', cancelMessage), 'releaseLease'],
    },
    { actions: dropWaiting('cancelled', cancelMessage) },
  ],
  EXPIRED: [
    {
      guard: 'isActive',
      target: 'idle',
      actions: [rejectActive('queue_expired', expiredMessage), 'releaseLease'],
    },
    { actions: dropWaiting('queue_expired', expiredMessage) },
  ],
} as const;

const machine = room.createMachine({
  id: 'input',
  // A pure transition asks for a context without an input, and throws it away; a throw costs more than the step.
  context: ({ input }: { input: MachineInput | undefined }) => ({
    limits: input?.limits ?? defaultLimits,
    busyMode: input?.busyMode ?? 'daemon_queue',
    queue: [],
    active: null,
    outstanding: [],
    controlWanted: 0,
    turnOpenSinceMs: null,
    awaitsTurnStart: input?.awaitsTurnStart ?? false,
    startPendingSinceMs: null,
  }),
  initial: 'idle',
  on: {
    SUBMIT: { actions: admit },
    CANCEL: { actions: dropWaiting('cancelled', cancelMessage) },
    EXPIRED: { actions: dropWaiting('queue_expired', expiredMessage) },
    EVIDENCE: { actions: creditEvidence },
    WITHDRAWN: { actions: withdraw },
    TURN_STARTED: { actions: openTurn },
    TURN_ENDED: { actions: closeTurn },
    CONTROL_REQUESTED: {
      actions: room.assign(({ context }) => ({ controlWanted: context.controlWanted + 1 })),
    },
    CONTROL_WITHDRAWN: {
      actions: room.assign(({ context }) => ({
        controlWanted: Math.max(0, context.controlWanted - 1),
      })),
    },
    GONE: { target: '.gone' },
  },
  states: {
    /** Nothing of ours is in the way. */
    idle: {
      always: [
        { guard: 'controlWanted', target: 'controlled' },
        { guard: 'hasWaiting', target: 'looking', actions: takeNext },
      ],
    },
    /** The writer lease is ours; a fresh reading decides. */
    looking: {
      entry: ['takeLease', 'look'],
      on: {
        ...undispatchedExits,
        LOOKED: [
          {
            guard: 'processGone',
            target: 'idle',
            actions: [
              rejectActive(
                'runtime_gone_pre_paste',
                'the agent ended before anything was written to it',
              ),
              'releaseLease',
            ],
          },
          { guard: 'bodyRefused', target: 'idle', actions: [rejectRefused, 'releaseLease'] },
          { guard: 'held', target: 'held', actions: [reportHeld, 'releaseLease'] },
          { guard: 'waitsForTurn', target: 'held', actions: [reportHeld, 'releaseLease'] },
          { target: 'dispatching', actions: freezeMode },
        ],
      },
    },
    /** Something forbids typing; the next change on the screen is a reason to look again. */
    held: {
      always: { guard: 'controlWanted', target: 'controlled' },
      exit: { type: 'stopTimer', params: { name: 'idle' } },
      on: {
        ...undispatchedExits,
        WAKE: { target: 'looking' },
        EVIDENCE: { target: 'looking', actions: creditEvidence },
        TURN_STARTED: { target: 'looking', actions: openTurn },
        TURN_ENDED: { target: 'looking', actions: closeTurn },
        TIMER: { target: 'looking' },
      },
    },
    /** The dispatch is being made durable: after this, at most once. */
    dispatching: {
      on: {
        JOURNALLED: { target: 'pasting', actions: trackActive },
        JOURNAL_FAILED: { target: 'idle', actions: [rejectUnjournalled, 'releaseLease'] },
      },
    },
    pasting: {
      on: {
        WRITTEN: [
          {
            guard: 'nothingWritten',
            target: 'idle',
            actions: [
              rejectActive('paste_failed', 'the terminal took none of the text'),
              endTransaction,
            ],
          },
          { target: 'echoing' },
        ],
      },
    },
    /** Waiting, by looking, for exactly our draft. */
    echoing: {
      entry: 'look',
      always: { guard: 'settled', target: 'settling' },
      on: {
        WAKE: { actions: 'look' },
        TIMER: { actions: [noteDeadline, 'look'] },
        CANCEL: [
          {
            guard: 'isActive',
            target: 'unconfirmed',
            actions: doubt(
              'cancelled_after_paste',
              'cancelled after the text was pasted; Enter was not pressed',
            ),
          },
          { actions: dropWaiting('cancelled', cancelMessage) },
        ],
        LOOKED: [
          { guard: 'dialogOpen', target: 'unconfirmed', actions: [countLook, withholdEnter] },
          { guard: 'exactlyOurs', target: 'entering', actions: [countLook, pressEnter] },
          { guard: 'deadlinePassed', target: 'unconfirmed', actions: [countLook, withholdEnter] },
          { actions: countLook },
        ],
      },
    },
    entering: {
      on: {
        WRITTEN: [
          {
            guard: and(['nothingWritten', 'firstEnter']),
            target: 'unconfirmed',
            actions: doubt(
              'enter_withheld:not_written',
              'the terminal took the text but not the Enter',
            ),
          },
          { target: 'confirming', actions: noteEnter },
        ],
      },
    },
    /** Waiting, by looking and by the engine's record, for evidence newer than the Enter. */
    confirming: {
      entry: 'look',
      always: { guard: 'settled', target: 'settling' },
      on: {
        WAKE: { actions: 'look' },
        TIMER: [
          { guard: ({ event }) => event.name === 'confirm', actions: [noteDeadline, 'look'] },
          { actions: [noteRetryDue, 'look'] },
        ],
        LOOKED: [
          { guard: 'leftComposer', target: 'settling', actions: acceptByScreen('composer_left') },
          { guard: 'shownInQueue', target: 'settling', actions: acceptByScreen('queue_shown') },
          {
            guard: or(['deadlinePassed', 'outOfLooks']),
            target: 'unconfirmed',
            actions: doubt(
              'input_acceptance_unconfirmed',
              'Enter was pressed, but neither the screen nor the record shows what became of the text; do not send it again',
            ),
          },
          { guard: 'mayEnterAgain', target: 'entering', actions: [countLook, pressEnter] },
          { actions: countLook },
        ],
      },
    },
    settling: {
      entry: [endTransaction, dropActive],
      always: { target: 'idle' },
    },
    /** The barrier: nothing else is typed until what became of this input is known or seen to be over. */
    unconfirmed: {
      entry: [endTransaction, reportBehindDoubt, 'look'],
      always: [
        { guard: 'settled', target: 'settling' },
        { guard: 'controlWanted', target: 'controlled' },
      ],
      on: {
        WAKE: { actions: 'look' },
        RESOLVE: { guard: 'isActive', target: 'idle', actions: resolveByHand },
        LOOKED: [
          { guard: 'leftComposer', target: 'settling', actions: acceptByScreen('composer_left') },
          { guard: 'shownInQueue', target: 'settling', actions: acceptByScreen('queue_shown') },
          { guard: and(['composerClear', 'pasteAccounted']), target: 'settling' },
          { guard: 'reclaimable', target: 'reclaiming', actions: [countLook, startReclaim] },
          { actions: countLook },
        ],
      },
    },
    /** Our own unsent text is taken back out of the composer, under the lease, before anything else is typed. */
    reclaiming: {
      on: {
        WRITTEN: [{ guard: 'nothingWritten', target: 'unconfirmed' }, { actions: 'look' }],
        WAKE: { actions: 'look' },
        LOOKED: [
          { guard: and(['composerClear', 'personTyped']), target: 'settling' },
          { guard: 'composerClear', target: 'idle', actions: [proveNotSubmitted, endTransaction] },
          { guard: 'dialogOpen', target: 'unconfirmed' },
        ],
        // The keys may be lost: the lease is not kept for them.
        TIMER: { target: 'unconfirmed' },
      },
    },
    /** An explicit answer, a stop or a takeover has the keyboard. */
    controlled: {
      entry: [
        room.assign(({ context }) => ({ controlWanted: Math.max(0, context.controlWanted - 1) })),
        'grantControl',
      ],
      on: {
        CONTROL_RELEASED: [
          { guard: 'inDoubt', target: 'unconfirmed' },
          { guard: 'hasActive', target: 'looking' },
          { target: 'idle' },
        ],
      },
    },
    gone: {
      type: 'final',
      entry: [endSession, 'releaseLease'],
    },
  },
});

/** One moment of the machine. Opaque but for these fields; only `stepInput` makes new ones. */
export interface InputState {
  /** The name of the state the machine is in. */
  readonly value: unknown;
  readonly context: InputContext;
}

/** The machine as data, for drawing and for walking its graph. */
export const inputMachine: AnyStateMachine = machine;

export interface Step {
  readonly state: InputState;
  readonly commands: readonly InputCommand[];
}

export function startInput(
  limits: ControllerLimits,
  engine: Pick<MachineInput, 'busyMode' | 'awaitsTurnStart'>,
): Step {
  const { awaitsTurnStart, busyMode } = engine;
  const [state, actions] = initialTransition(machine, { limits, busyMode, awaitsTurnStart });
  return { state, commands: commandsOf(actions) };
}

/** Pure: the same state and event always give the same next state and commands. */
export function stepInput(state: InputState, event: InputEvent): Step {
  const actions: { type: string; params: unknown }[] = [];
  stepScope.actionExecutor = ({ type, params }) => void actions.push({ type, params });
  const next = machine.transition(state as SnapshotFrom<typeof machine>, event, stepScope);
  return { state: next, commands: commandsOf(actions) };
}

/**
 * What a step runs in. xstate's own `transition` starts an actor for each step, which takes
 * several times as long as the step; this one is never started and serves them all.
 */
const stepScope: AnyActorScope = inertScope();

function inertScope(): AnyActorScope {
  const self = createActor(machine, {
    input: { limits: defaultLimits, busyMode: 'daemon_queue', awaitsTurnStart: false },
  });
  const nothing = (): void => undefined;
  return {
    self,
    system: self.system,
    id: '',
    sessionId: '',
    logger: nothing,
    defer: nothing,
    emit: nothing,
    stopChild: nothing,
    actionExecutor: nothing,
  };
}

const commandTypes: ReadonlySet<string> = new Set<InputCommand['type']>([
  'takeLease',
  'releaseLease',
  'look',
  'journal',
  'paste',
  'enter',
  'reclaim',
  'grantControl',
  'forget',
  'startTimer',
  'stopTimer',
  'report',
]);

function commandsOf(actions: readonly { type: string; params: unknown }[]): InputCommand[] {
  return actions.filter((action): action is InputCommand & { params: unknown } =>
    commandTypes.has(action.type),
  );
}
