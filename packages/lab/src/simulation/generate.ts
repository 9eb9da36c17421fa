import type {
  EnginePlan,
  ModelDialog,
  Moment,
  Plan,
  PlannedAction,
  PlannedDo,
  RangeMs,
  WriteFault,
} from './plan.js';
import { type Chance, chance } from './random.js';

const moments = [
  'look_asked',
  'look_given',
  'paste_leaves',
  'paste_left',
  'enter_leaves',
  'enter_left',
  'paste_read',
  'enter_read',
  'store_written',
] as const satisfies readonly Moment[];

const writeMoments = [
  'paste_leaves',
  'enter_leaves',
  'erase_leaves',
] as const satisfies readonly Moment[];

const dialogs = [
  'permission',
  'permission',
  'question',
  'menu',
  'transcript',
  'search',
] as const satisfies readonly ModelDialog[];

const faults = [
  'nothing_written',
  'ambiguous_arrived',
  'ambiguous_lost',
  'ambiguous_cut',
] as const satisfies readonly WriteFault[];

const bodies = [
  'fix the build',
  'two lines\nof a text',
  'look at @file and go on',
  'a longer text, which is pasted in several frames of one write, one after the other',
  'ünïcode 語 🎠',
] as const;

/** The schedule of a seed. Seeds mean what they mean for one version of this file. */
export function generate(seed: number): Plan {
  const luck = chance(seed, 'plan');
  const sessionsCount = luck.is(0.2) ? 2 : 1;
  const calmSession = sessionsCount === 2 && luck.is(0.5) ? 1 : null;
  const spanMs = luck.pick([2_000, 8_000, 30_000, 90_000]);
  const engines = Array.from({ length: sessionsCount }, (_, index) =>
    index === calmSession ? calmEngine(luck) : anyEngine(luck),
  );
  const actions: PlannedAction[] = [];
  const sends = luck.int(1, luck.is(0.15) ? 12 : 4);
  const keys: string[] = [];
  // The same text before and after a new process reads the record from its start.
  const relives = calmSession === null && luck.is(0.08);
  const sameShare = relives ? 0.7 : luck.pick([0.02, 0.02, 0.02, 0.02, 0.5]);
  if (relives) actions.push({ do: 'restart', engines: 'survive', atMs: luck.int(500, spanMs) });
  // A draft put away, and an Enter that is read late.
  if (luck.is(0.04)) {
    const forMs = luck.int(1_000, 9_000);
    actions.push(
      { do: 'person', session: 0, keys: 'half a thought', atMs: luck.int(50, 500) },
      { do: 'person', session: 0, keys: '\u0013', atMs: luck.int(500, 1_000) },
      { do: 'stall', session: 0, what: 'reading', forMs, ...atMoment('enter_leaves', 0, 1) },
    );
  }
  for (let index = 0; index < sends; index += 1) {
    const session = luck.int(0, sessionsCount - 1);
    const key = `k${index}`;
    if (session !== calmSession) keys.push(key);
    const text = luck.is(sameShare)
      ? 'the same text'
      : luck.is(0.03)
        ? `/command ${index}`
        : `${index}: ${luck.pick(bodies)}`;
    actions.push({ do: 'send', session, key, text, ...when(luck, spanMs, session, 0.85) });
  }
  const troubles = luck.int(0, luck.is(0.3) ? 10 : 4);
  const troubled = calmSession === null ? sessionsCount : 1;
  for (let index = 0; index < troubles; index += 1) {
    const session = luck.int(0, troubled - 1);
    const done = trouble(luck, session, keys, index, calmSession !== null);
    if (!done) continue;
    const due =
      done.do === 'write_fault' && luck.is(0.6)
        ? atMoment(luck.pick(writeMoments), session, luck.int(1, 3))
        : when(luck, spanMs, session, 0.45);
    actions.push({ ...done, ...due });
  }
  addKillsOfRestarts(actions, chance(seed, 'restarts'));
  return {
    seed,
    engines,
    lookMs: luck.pick<RangeMs>([
      [0, 2],
      [0, 2],
      [1, 100],
    ]),
    writeMs: luck.pick<RangeMs>([
      [0, 2],
      [0, 2],
      [0, 40],
    ]),
    actions,
    calmFromMs: spanMs + luck.pick([3_000, 20_000, 40_000]),
    calmSession,
  };
}

/** New processes that are killed as well: before they reach the engines, or in what they do first. */
function addKillsOfRestarts(actions: PlannedAction[], luck: Chance): void {
  for (const [index, action] of actions.entries()) {
    if (action.do !== 'restart' || action.engines !== 'survive') continue;
    if (luck.is(0.3)) actions[index] = { ...action, unadopted: luck.int(1, 2) };
    if (!luck.is(0.4)) continue;
    const due = atMoment(luck.pick(['erase_leaves', 'look_asked']), 0, luck.int(1, 4));
    actions.push({ do: 'restart', engines: 'survive', ...due });
  }
}

type When =
  | { readonly atMs: number }
  | { readonly on: Moment; readonly of: number; readonly nth: number; readonly afterMs: number };

function atMoment(on: Moment, of: number, nth: number): Extract<When, { on: Moment }> {
  return { on, of, nth, afterMs: 0 };
}

function when(luck: Chance, spanMs: number, session: number, timedShare: number): When {
  if (luck.is(timedShare)) {
    return { atMs: luck.is(0.3) ? luck.int(0, 1_500) : luck.int(0, spanMs) };
  }
  return {
    on: luck.pick(moments),
    of: session,
    nth: luck.int(1, luck.is(0.5) ? 3 : 12),
    afterMs: luck.is(0.6) ? 0 : luck.int(1, luck.is(0.5) ? 20 : 1_000),
  };
}

function trouble(
  luck: Chance,
  session: number,
  keys: readonly string[],
  index: number,
  oneIsCalm: boolean,
): PlannedDo | null {
  const key = keys[luck.int(0, keys.length - 1)] ?? 'nobody';
  const roll = luck.int(1, 100);
  if (roll <= 22) return { do: 'open', session, dialog: luck.pick(dialogs) };
  if (roll <= 30) return { do: 'close', session };
  if (roll <= 42) {
    const what = luck.pick(['reading', 'painting', 'both'] as const);
    return { do: 'stall', session, what, forMs: luck.int(10, luck.is(0.5) ? 1_500 : 25_000) };
  }
  if (roll <= 58) {
    const keys = luck.pick(['x', 'half a thought', '\r', '\u0015', '\u0013', '\u001b', '\u001b[A']);
    return { do: 'person', session, keys };
  }
  if (roll <= 64) return { do: 'resend', key };
  if (roll <= 66) return { do: 'conflict', key };
  if (roll <= 70) return { do: 'cancel', key };
  if (roll <= 73) return { do: 'resolve', key };
  if (roll <= 76) return { do: 'stop', session, key: `stop${index}` };
  if (roll <= 79) return { do: 'answer', session, key: `answer${index}` };
  if (roll <= 83) return { do: 'write_fault', session, fault: luck.pick(faults) };
  if (roll <= 86) return { do: 'swallow', session, enters: luck.int(1, 4) };
  if (roll <= 88) return { do: 'ghost', session, text: 'try something else' };
  if (roll <= 91) {
    const outcome = luck.pick(['completed', 'failed', 'cancelled'] as const);
    return { do: 'end_turn', session, outcome };
  }
  if (roll <= 92) return { do: 'resize', session, cols: luck.int(20, 120) };
  if (roll <= 93) return { do: 'shell', session };
  if (roll <= 94) return { do: 'die', session };
  if (roll <= 96) return { do: 'takeover', session, forMs: luck.int(1, 3_000) };
  if (oneIsCalm) return null;
  if (roll <= 98) return { do: 'restart', engines: luck.pick(['die', 'survive'] as const) };
  return { do: 'store_fails', operations: luck.int(1, 6) };
}

function anyEngine(luck: Chance): EnginePlan {
  return {
    rule: luck.pick([
      'steering',
      'steering',
      'native_queue',
      'native_queue',
      'merging',
      'daemon_queue',
    ]),
    bootMs: luck.pick([0, 0, 300, 4_000]),
    readMs: luck.pick<RangeMs>([
      [0, 2],
      [0, 60],
    ]),
    echoMs: luck.pick<RangeMs>([
      [0, 20],
      [0, 20],
      [50, 400],
      [100, 3_000],
      [1_000, 20_000],
    ]),
    enterMs: luck.pick<RangeMs>([
      [0, 10],
      [20, 300],
      [190, 1_400],
    ]),
    frameMs: luck.pick<RangeMs>([
      [4, 4],
      [0, 60],
    ]),
    transportMs: luck.pick<RangeMs>([
      [0, 3],
      [0, 200],
    ]),
    recordMs: luck.pick<RangeMs>([
      [0, 50],
      [100, 800],
      [0, 12_000],
    ]),
    recordLossShare: luck.pick([0, 0, 0.1, 1]),
    recordsInOrder: luck.is(0.8),
    hook: luck.is(0.4),
    turnMs: luck.pick<RangeMs>([
      [50, 400],
      [500, 5_000],
      [10_000, 60_000],
    ]),
    boundaryMs: luck.pick([null, 700, 3_000]),
    showsQueue: luck.is(0.7),
    swallowShare: luck.pick([0, 0, 0.1, 0.5]),
    announceMs: luck.pick([500, 500, 0]),
    graceMs: luck.pick([400, 400, 0]),
    dialogDropsDraft: luck.is(0.2),
    ghost: luck.is(0.5) ? 'Press up to edit queued messages' : null,
    ghostStyleLate: luck.is(0.3),
    spinnerMs: luck.pick([900, 3_000]),
    halfFrameShare: luck.pick([0, 0.05, 0.2]),
    popup: luck.is(0.3),
  };
}

function calmEngine(luck: Chance): EnginePlan {
  return {
    ...anyEngine(luck),
    rule: luck.pick(['steering', 'native_queue']),
    bootMs: 0,
    readMs: [0, 2],
    echoMs: [0, 20],
    enterMs: [0, 300],
    frameMs: [4, 4],
    transportMs: [0, 3],
    swallowShare: 0,
    halfFrameShare: 0,
    popup: false,
  };
}
