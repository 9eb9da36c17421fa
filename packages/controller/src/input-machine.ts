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
import { guards } from './guards.js';
import { type ControllerLimits, defaultLimits } from './limits.js';
import type {
  EndedDelivery,
  InputCommand,
  InputContext,
  InputEvent,
  ReceiptChange,
  TimerName,
  TurnEnd,
} from './machine-types.js';
import {
  type RestoredInput,
  restoredBarrier,
  restoredOutstanding,
  restoredUnseen,
} from './restored.js';
import * as doubtSteps from './steps/doubt.js';
import type { Step } from './steps/effect.js';
import * as evidenceSteps from './steps/evidence.js';
import * as waiting from './steps/waiting.js';
import * as writing from './steps/writing.js';

interface MachineInput {
  readonly limits: ControllerLimits;
  readonly busyMode: InputMode;
  readonly awaitsTurnStart: boolean;
  /** What an earlier process dispatched, in its order. */
  readonly restored: readonly RestoredInput[];
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
    endTurn: (_, _params: { end: TurnEnd; deliveries: readonly EndedDelivery[] }) => undefined,
  },
});

/** A step as an action: its changes are assigned, its commands handed out unexecuted. */
const act = (step: Step) =>
  room.enqueueActions(({ context, event, enqueue }) => {
    const { changes, commands } = step(context, event);
    enqueue.assign(changes);
    for (const command of commands) enqueue(command);
  });

const admit = act(waiting.admit);
const takeNext = act(waiting.takeNext);
const reportHeld = act(waiting.reportHeld);
const rejectRefused = act(waiting.rejectRefused);
const freezeMode = act(writing.freezeMode);
const rejectUnjournalled = act(writing.rejectUnjournalled);
const trackActive = act(writing.trackActive);
const lookAgainSoon = act(writing.lookAgainSoon);
const pressEnter = act(writing.pressEnter);
const noteEnter = act(writing.noteEnter);
const countLook = act(writing.countLook);
const noteDeadline = act(writing.noteDeadline);
const noteRetryDue = act(writing.noteRetryDue);
const endTransaction = act(writing.endTransaction);
const dropActive = act(writing.dropActive);
const creditEvidence = act(evidenceSteps.creditEvidence);
const openTurn = act(evidenceSteps.openTurn);
const closeTurn = act(evidenceSteps.closeTurn);
const giveUpTies = act(evidenceSteps.giveUpTies);
const withdraw = act(evidenceSteps.withdraw);
const withholdEnter = act(doubtSteps.withholdEnter);
const reportBehindDoubt = act(doubtSteps.reportBehindDoubt);
const proveNotSubmitted = act(doubtSteps.proveNotSubmitted);
const startReclaim = act(doubtSteps.startReclaim);
const resolveByHand = act(doubtSteps.resolveByHand);
const endSession = act(doubtSteps.endSession);
const rejectActive = (code: string, message: string) => act(waiting.rejectActive(code, message));
const dropWaiting = (code: string, message: string) => act(waiting.dropWaiting(code, message));
const acceptByScreen = (evidence: 'composer_left' | 'queue_shown') =>
  act(evidenceSteps.acceptByScreen(evidence));
const doubt = (code: string, message: string) => act(doubtSteps.doubt(code, message));

/** Before the first byte a wish to stop is proven; `CANCEL` and `EXPIRED` then end the input. */
const undispatchedExits = {
  CANCEL: [
    {
      guard: 'isActive',
      target: 'idle',
      actions: [rejectActive('cancelled', waiting.cancelMessage), 'releaseLease'],
    },
    { actions: dropWaiting('cancelled', waiting.cancelMessage) },
  ],
  EXPIRED: [
    {
      guard: 'isActive',
      target: 'idle',
      actions: [rejectActive('queue_expired', waiting.expiredMessage), 'releaseLease'],
    },
    { actions: dropWaiting('queue_expired', waiting.expiredMessage) },
  ],
} as const;

const machine = room.createMachine({
  id: 'input',
  // A pure transition asks for a context without an input, and throws it away; a throw costs more than the step.
  context: ({ input }: { input: MachineInput | undefined }) => ({
    limits: input?.limits ?? defaultLimits,
    busyMode: input?.busyMode ?? 'daemon_queue',
    queue: [],
    active: restoredBarrier(input?.restored ?? []),
    outstanding: (input?.restored ?? []).map(restoredOutstanding),
    controlWanted: 0,
    turnOpenSinceMs: null,
    awaitsTurnStart: input?.awaitsTurnStart ?? false,
    startPendingSinceMs: null,
    queuedSinceMs: null,
    unseen: restoredUnseen(input?.restored ?? []),
  }),
  initial: 'idle',
  on: {
    SUBMIT: { actions: admit },
    CANCEL: { actions: dropWaiting('cancelled', waiting.cancelMessage) },
    EXPIRED: { actions: dropWaiting('queue_expired', waiting.expiredMessage) },
    EVIDENCE: { actions: creditEvidence },
    WITHDRAWN: { actions: withdraw },
    TURN_STARTED: { actions: openTurn },
    TURN_ENDED: { actions: closeTurn },
    UNTIED: { actions: giveUpTies },
    RESOLVE: { actions: resolveByHand },
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
        { guard: 'inDoubt', target: 'unconfirmed' },
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
      exit: { type: 'stopTimer', params: { name: 'idle' } },
      always: { guard: 'settled', target: 'settling' },
      on: {
        WAKE: { actions: 'look' },
        EVIDENCE: { actions: [creditEvidence, 'look'] },
        TURN_STARTED: { actions: [openTurn, 'look'] },
        TIMER: [
          { guard: ({ event }) => event.name === 'echo', actions: [noteDeadline, 'look'] },
          { actions: 'look' },
        ],
        CANCEL: [
          {
            guard: 'isActive',
            target: 'unconfirmed',
            actions: doubt(
              'cancelled_after_paste',
              'cancelled after the text was pasted; Enter was not pressed',
            ),
          },
          { actions: dropWaiting('cancelled', waiting.cancelMessage) },
        ],
        LOOKED: [
          { guard: 'dialogOpen', target: 'unconfirmed', actions: [countLook, withholdEnter] },
          { guard: 'wouldOvertake', actions: [countLook, lookAgainSoon] },
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

export interface MachineStep {
  readonly state: InputState;
  readonly commands: readonly InputCommand[];
}

export function startInput(
  limits: ControllerLimits,
  engine: Pick<MachineInput, 'busyMode' | 'awaitsTurnStart'>,
  restored: readonly RestoredInput[] = [],
): MachineStep {
  const { awaitsTurnStart, busyMode } = engine;
  const [state, actions] = initialTransition(machine, {
    limits,
    busyMode,
    awaitsTurnStart,
    restored,
  });
  return { state, commands: commandsOf(actions) };
}

/** Pure: the same state and event always give the same next state and commands. */
export function stepInput(state: InputState, event: InputEvent): MachineStep {
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
    input: {
      limits: defaultLimits,
      busyMode: 'daemon_queue',
      awaitsTurnStart: false,
      restored: [],
    },
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
  'endTurn',
]);

function commandsOf(actions: readonly { type: string; params: unknown }[]): InputCommand[] {
  return actions.filter((action): action is InputCommand & { params: unknown } =>
    commandTypes.has(action.type),
  );
}
