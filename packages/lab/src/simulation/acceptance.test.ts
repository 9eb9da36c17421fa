import { describe, expect, test } from 'vitest';
import type { EnginePlan, Plan, PlannedAction } from './plan.js';
import { type Outcome, runPlan } from './world.js';

/** Nothing unusual ever happens in it. */
const plain: EnginePlan = {
  rule: 'steering',
  bootMs: 50,
  readMs: [1, 1],
  echoMs: [2, 2],
  enterMs: [2, 2],
  frameMs: [4, 4],
  transportMs: [1, 1],
  recordMs: [20, 20],
  recordLossShare: 0,
  recordsInOrder: true,
  hook: false,
  turnMs: [500, 500],
  boundaryMs: 100,
  showsQueue: true,
  swallowShare: 0,
  announceMs: 0,
  graceMs: 0,
  dialogDropsDraft: false,
  ghost: null,
  ghostStyleLate: false,
  spinnerMs: 80,
  halfFrameShare: 0,
  popup: false,
};

const send = (atMs: number, key: string, text: string, session = 0): PlannedAction => ({
  do: 'send',
  session,
  key,
  text,
  atMs,
});

/** Runs one schedule; no invariant may break in it, whatever else a case asks. */
async function play(
  actions: readonly PlannedAction[],
  engine: Partial<EnginePlan> = {},
  more: Partial<Plan> & { readonly second?: Partial<EnginePlan> } = {},
): Promise<Trace> {
  const { second, ...plan } = more;
  const engines = [{ ...plain, ...engine }, ...(second ? [{ ...plain, ...second }] : [])];
  const outcome = await runPlan(
    {
      seed: 1,
      engines,
      lookMs: [0, 1],
      writeMs: [0, 1],
      calmFromMs: 20_000,
      calmSession: null,
      actions,
      ...plan,
    },
    { traced: true },
  );
  expect(outcome.violations).toEqual([]);
  return new Trace(outcome);
}

/** What happened, line by line. */
class Trace {
  readonly lines: readonly string[];

  constructor({ trace }: Outcome) {
    this.lines = trace.map((line) => line.replace(/^\s*\d+ ms {2}/, ''));
  }

  /** These came about in this order, with anything in between. */
  shows(...wanted: readonly (string | RegExp)[]): this {
    let at = 0;
    for (const one of wanted) {
      const found = this.lines.findIndex((line, index) => index >= at && fits(line, one));
      expect(found, `${String(one)} behind line ${at} of\n${this.lines.join('\n')}`).not.toBe(-1);
      at = found + 1;
    }
    return this;
  }

  never(unwanted: string | RegExp): this {
    expect(this.lines.filter((line) => fits(line, unwanted))).toEqual([]);
    return this;
  }

  count(wanted: string | RegExp): number {
    return this.lines.filter((line) => fits(line, wanted)).length;
  }
}

const fits = (line: string, wanted: string | RegExp): boolean =>
  typeof wanted === 'string' ? line.includes(wanted) : wanted.test(line);

const taken = (text: string): string => `the engine takes "${text}" (us)`;

describe('delivery', () => {
  test.each([
    ['steering', 'steering'],
    ['native_queue', 'native_queue'],
    ['merging', 'native_input'],
  ] as const)('[D01] B typed before A ends is %s, as the engine takes it', async (rule, mode) => {
    const trace = await play([send(100, 'a', 'A'), send(300, 'b', 'B')], { rule });
    trace.shows(taken('A'), 'b: delivered', taken('B'));
    trace.shows(`b: delivered ${mode} accepted`);
  });

  test('[D02] rapid A, B, C go strictly in order, one at a time', async () => {
    const texts = ['A', 'B', 'C'];
    const trace = await play(texts.map((text, index) => send(100 + index, text, text)));
    trace.shows(...texts.flatMap((text) => [`paste leaves as write`, taken(text)]));
    expect(trace.count(/paste leaves/)).toBe(3);
  });

  test('[D03] B and C stay delivered when the old turn ends', async () => {
    const trace = await play([send(100, 'a', 'A'), send(200, 'b', 'B'), send(260, 'c', 'C')], {
      rule: 'native_queue',
      boundaryMs: null,
    });
    trace.shows(
      'a: started',
      'b: delivered native_queue',
      'c: delivered native_queue',
      'a: completed',
    );
    trace.shows('a: completed', 'b: started', 'b: completed');
  });

  test('[D04] an engine without a route of its own: B is typed at the end of the turn', async () => {
    const trace = await play([send(100, 'a', 'A'), send(300, 'b', 'B')], { rule: 'daemon_queue' });
    trace.shows('b: queued daemon_queue waiting_for_turn', 'the turn ends', taken('B'));
  });

  test('[D05] the mode stays what it was at the dispatch after A has ended', async () => {
    const trace = await play([send(100, 'a', 'A'), send(400, 'b', 'B')], {
      rule: 'native_queue',
      boundaryMs: null,
      turnMs: [800, 800],
    });
    trace.shows('a: completed', /b: started native_queue/);
    trace.never(/b: .* direct/);
  });

  test('[D06] several lines go in one input', async () => {
    const text = 'one\ntwo\nthree';
    const trace = await play([send(100, 'a', text)]);
    trace.shows(`the engine takes ${JSON.stringify(text)} (us)`, 'a: completed');
  });

  test('[D07] two callers 30 ms apart never merge', async () => {
    const trace = await play([send(100, 'a', 'from one'), send(130, 'b', 'from the other')]);
    trace.shows(taken('from one'), taken('from the other'));
  });

  test('[D08] a write that fails whole rejects its own input, and the next still goes', async () => {
    const trace = await play([
      { do: 'write_fault', session: 0, fault: 'nothing_written', atMs: 90 },
      send(100, 'a', 'A'),
      send(110, 'b', 'B'),
    ]);
    trace.shows('a: rejected', taken('B')).never(taken('A'));
  });

  test('[D09] two sessions never wait for each other', async () => {
    const trace = await play(
      [
        { do: 'open', session: 0, dialog: 'permission', atMs: 90 },
        send(100, 'a', 'A'),
        send(110, 'b', 'B', 1),
      ],
      {},
      { second: {}, calmSession: 1 },
    );
    trace.shows('a: queued direct waiting_for_user hold=permission', 'b: completed');
    trace.shows('b: completed', 'a person closes the dialog', taken('A'));
  });

  test("[D10] a person's keys during our write land after it, whole", async () => {
    const trace = await play([
      send(100, 'a', 'A'),
      { do: 'person', session: 0, keys: 'hello', on: 'paste_leaves', of: 0, nth: 1, afterMs: 0 },
    ]);
    trace.shows('paste leaves', 'enter leaves', taken('A'), 'a person\'s keys leave: "hello"');
  });

  test('[D11] a retry under its key gets the stored receipt, another intent a conflict', async () => {
    const trace = await play([
      send(100, 'a', 'A'),
      { do: 'resend', key: 'a', atMs: 120 },
      { do: 'conflict', key: 'a', atMs: 140 },
      { do: 'resend', key: 'a', atMs: 4_000 },
    ]);
    expect(trace.count(/paste leaves/)).toBe(1);
  });
});

describe('evidence', () => {
  test('[E01] a draft that stays: one Enter at a look, and two more at most', async () => {
    const trace = await play([
      { do: 'swallow', session: 0, enters: 9, atMs: 90 },
      send(100, 'a', 'A'),
    ]);
    expect(trace.count(/enter leaves/)).toBe(3);
    trace.shows('a: unknown direct unconfirmed (input_acceptance_unconfirmed)');
  });

  test('[E02] a write nobody knows of: no further Enter, unknown, and the next waits', async () => {
    const trace = await play([
      {
        do: 'write_fault',
        session: 0,
        fault: 'ambiguous_lost',
        on: 'paste_left',
        of: 0,
        nth: 1,
        afterMs: 0,
      },
      send(100, 'a', 'A'),
      send(110, 'b', 'B'),
    ]);
    expect(trace.count(/enter leaves as write \d+ for a/)).toBe(1);
    trace.shows('a: unknown', /b: queued .* hold=unconfirmed_input/);
  });

  test('[E03] an unknown A is raised by its later record, and the barrier is gone', async () => {
    const trace = await play(
      [
        {
          do: 'stall',
          session: 0,
          what: 'painting',
          forMs: 18_000,
          on: 'enter_leaves',
          of: 0,
          nth: 1,
          afterMs: 0,
        },
        send(100, 'a', 'A'),
        send(110, 'b', 'B'),
      ],
      { recordMs: [16_500, 16_500] },
    );
    trace.shows('a: unknown direct unconfirmed', /a: (delivered|started)/, taken('B'));
  });

  test('[E04] a composer that clears without a record is accepted, and not completed', async () => {
    const trace = await play([send(100, 'a', 'A')], { recordLossShare: 1 });
    trace.shows('a: delivered direct accepted by composer_left').never('a: completed');
  });

  test('[E05] a screen that is not readable is no acceptance', async () => {
    const trace = await play(
      [
        {
          do: 'stall',
          session: 0,
          what: 'painting',
          forMs: 5_000,
          on: 'enter_leaves',
          of: 0,
          nth: 1,
          afterMs: 0,
        },
        send(100, 'a', 'A'),
      ],
      { recordLossShare: 1 },
    );
    trace.shows('a: delivered direct submitted', 'a: delivered direct accepted by composer_left');
  });

  test('[E06] a screen with only a dialog on it is no acceptance', async () => {
    const trace = await play(
      [
        { do: 'open', session: 0, dialog: 'menu', on: 'enter_left', of: 0, nth: 1, afterMs: 0 },
        send(100, 'a', 'A'),
      ],
      { recordLossShare: 1, readMs: [30, 30] },
    );
    trace
      .shows('a: delivered direct submitted', 'hold=menu')
      .never(/a: .*accepted by composer_left/);
  });

  test('[E07] a start that is seen before the write has returned counts', async () => {
    const trace = await play(
      [send(100, 'a', 'A')],
      { recordMs: [0, 0], hook: true },
      { writeMs: [300, 300] },
    );
    trace.shows(taken('A'), /a: .*accepted/, 'a: completed');
  });

  test('[E08] a write error behind a start does not undo it', async () => {
    const trace = await play(
      [
        {
          do: 'write_fault',
          session: 0,
          fault: 'ambiguous_arrived',
          on: 'paste_left',
          of: 0,
          nth: 1,
          afterMs: 0,
        },
        send(100, 'a', 'A'),
      ],
      { recordMs: [0, 0] },
      { writeMs: [200, 200] },
    );
    trace.shows('a: started', 'a: completed');
  });

  test("[E09] another prompt's start leaves those that wait as they are", async () => {
    const trace = await play(
      [{ do: 'person', session: 0, keys: 'something else\r', atMs: 100 }, send(600, 'a', 'A')],
      { turnMs: [3_000, 3_000], boundaryMs: null, rule: 'native_queue' },
    );
    trace.shows('(person)', 'the turn ends', 'a: started');
  });

  test('[E10] identical texts are credited first in, first out', async () => {
    const trace = await play([send(100, 'a', 'the same'), send(120, 'b', 'the same')], {
      rule: 'native_queue',
      boundaryMs: null,
    });
    trace.shows('a: started', 'b: started');
  });

  test('[E11] the agent gone before the paste rejects; gone after it leaves unknown', async () => {
    const before = await play([
      { do: 'die', session: 0, on: 'look_given', of: 0, nth: 2, afterMs: 0 },
      send(100, 'a', 'A'),
    ]);
    before.shows(/a: rejected .*(agent_gone|runtime_gone_pre_paste)/);
    const after = await play([
      { do: 'die', session: 0, on: 'paste_left', of: 0, nth: 1, afterMs: 0 },
      send(100, 'a', 'A'),
    ]);
    after.shows(/a: unknown .*runtime_gone_post_paste/);
  });

  test('[E12] a first sign after 12 s still raises it', async () => {
    const trace = await play(
      [
        {
          do: 'stall',
          session: 0,
          what: 'painting',
          forMs: 12_000,
          on: 'enter_leaves',
          of: 0,
          nth: 1,
          afterMs: 0,
        },
        send(100, 'a', 'A'),
      ],
      { recordMs: [12_500, 12_500] },
    );
    trace.shows('a: delivered direct submitted', /a: .*accepted/);
  });

  test('[E13] a restart claims nothing it has not seen, and types nothing again', async () => {
    const trace = await play([
      send(100, 'a', 'A'),
      { do: 'restart', engines: 'die', on: 'enter_left', of: 0, nth: 1, afterMs: 0 },
      { do: 'resend', key: 'a', atMs: 3_000 },
    ]);
    expect(trace.count(/paste leaves/)).toBe(1);
    trace.shows('a: unknown');
  });
});

describe('holds', () => {
  test.each(['permission', 'question', 'menu', 'transcript', 'search'] as const)(
    '[H01] %s: nothing is typed, and it goes once that closes',
    async (dialog) => {
      const trace = await play([
        { do: 'open', session: 0, dialog, atMs: 90 },
        send(120, 'a', 'A'),
        send(130, 'b', 'B'),
        { do: 'close', session: 0, atMs: 2_000 },
      ]);
      trace.shows(`a: queued direct waiting_for_user hold=${dialog}`, 'a dialog closes');
      trace.shows('a dialog closes', taken('A'), taken('B'));
    },
  );

  test('[H02] a dialog between the look and the paste gets no Enter', async () => {
    const trace = await play([
      { do: 'open', session: 0, dialog: 'permission', on: 'look_given', of: 0, nth: 2, afterMs: 0 },
      send(100, 'a', 'A'),
    ]);
    trace.never(/takes (enter|paste).*\(us\).*answers/);
  });

  test('[H03] a dialog between the paste and the Enter withholds the Enter', async () => {
    const trace = await play([
      { do: 'open', session: 0, dialog: 'permission', on: 'paste_left', of: 0, nth: 1, afterMs: 0 },
      send(100, 'a', 'A'),
    ]);
    trace.shows(/a: unknown .*enter_withheld:permission/).never(/enter leaves/);
  });

  test('[H04] a list our own text opens is no hold, and the Enter it eats is made good', async () => {
    const trace = await play([send(100, 'a', 'look at @file')], { popup: true });
    trace.shows(taken('look at @file'));
  });

  test('[H05] an answer gets the keyboard while prompts wait, and an old id types nothing', async () => {
    const trace = await play([
      { do: 'open', session: 0, dialog: 'question', atMs: 90 },
      send(120, 'a', 'A'),
      { do: 'answer', session: 0, key: 'q', atMs: 1_000 },
      { do: 'answer', session: 0, key: 'late', atMs: 5_000 },
    ]);
    trace.shows('hold=question', 'q: delivered', taken('A'));
  });

  test('[H06] an engine gone to a shell: the text never reaches the shell', async () => {
    const trace = await play([{ do: 'shell', session: 0, atMs: 90 }, send(200, 'a', 'A')]);
    trace.never(/paste leaves/);
  });

  test("[H07] a person's draft: nothing is written, and it goes when that clears", async () => {
    const trace = await play([
      { do: 'person', session: 0, keys: 'half a thought', atMs: 90 },
      send(1_000, 'a', 'A'),
    ]);
    trace.shows('a: queued direct waiting_for_writer hold=foreign_draft', taken('A'));
  });

  test('[H08] a ghost text, styled late, is no draft', async () => {
    const trace = await play([send(300, 'a', 'A')], {
      ghost: 'Try something',
      ghostStyleLate: true,
    });
    trace.shows(taken('A'), 'a: completed');
  });

  test('[H09] while a person has just typed, nothing is', async () => {
    const trace = await play([
      { do: 'person', session: 0, keys: '\u001b[A', atMs: 95 },
      send(100, 'a', 'A'),
    ]);
    trace.shows('a: queued direct waiting_for_writer hold=person_typing', taken('A'));
  });
});

describe('life', () => {
  test('[L01] what an input behind a dialog waits for ends by a timer, not pasted', async () => {
    const trace = await play(
      [{ do: 'open', session: 0, dialog: 'permission', atMs: 90 }, send(100, 'a', 'A')],
      {},
      { calmFromMs: 400_000 },
    );
    trace.shows(/a: rejected .*queue_expired/).never(/paste leaves/);
  });

  test('[L02] an input that a hold gives back keeps its place', async () => {
    const trace = await play([
      { do: 'open', session: 0, dialog: 'menu', atMs: 90 },
      send(100, 'a', 'A'),
      send(110, 'b', 'B'),
      { do: 'close', session: 0, atMs: 1_000 },
      { do: 'open', session: 0, dialog: 'menu', on: 'look_given', of: 0, nth: 3, afterMs: 0 },
    ]);
    trace.shows(taken('A'), taken('B'));
  });

  test('[L03] a session gone in the middle of a paste: nothing more is written', async () => {
    const trace = await play([
      { do: 'die', session: 0, on: 'paste_leaves', of: 0, nth: 1, afterMs: 0 },
      send(100, 'a', 'A'),
      send(100, 'b', 'B'),
    ]);
    trace.shows(/b: rejected .*agent_gone/).never(/enter leaves/);
  });

  test('[L04] cancelled while it waits: rejected; after the dispatch nothing is claimed', async () => {
    const waiting = await play([
      { do: 'open', session: 0, dialog: 'permission', atMs: 90 },
      send(100, 'a', 'A'),
      { do: 'cancel', key: 'a', atMs: 500 },
    ]);
    waiting.shows(/a: rejected .*cancelled/).never(/paste leaves/);
    const dispatched = await play([
      send(100, 'a', 'A'),
      { do: 'cancel', key: 'a', on: 'enter_left', of: 0, nth: 1, afterMs: 0 },
    ]);
    dispatched.shows(taken('A')).never('a: rejected');
  });

  test('[L05] a resize between the paste and the Enter', async () => {
    const trace = await play([
      { do: 'resize', session: 0, cols: 60, on: 'paste_left', of: 0, nth: 1, afterMs: 0 },
      send(100, 'a', 'a text of some length that is wrapped otherwise behind the resize'),
    ]);
    trace.shows('a: completed');
  });

  test('[L06] a child that stops reading: in doubt within its limit, and said', async () => {
    const trace = await play([
      {
        do: 'stall',
        session: 0,
        what: 'both',
        forMs: 60_000,
        on: 'paste_leaves',
        of: 0,
        nth: 1,
        afterMs: 0,
      },
      send(100, 'a', 'A'),
    ]);
    trace.shows(/a: unknown .*enter_withheld/);
  });

  test('[L07] a start of 40 s: the input waits for it', async () => {
    const trace = await play([send(100, 'a', 'A')], { bootMs: 40_000 }, { calmFromMs: 60_000 });
    trace.shows('a: queued', taken('A'));
  });

  test('[L08] a new process goes on with a living agent, and with what was on its way', async () => {
    const trace = await play([
      send(100, 'a', 'A'),
      { do: 'restart', engines: 'survive', on: 'enter_left', of: 0, nth: 1, afterMs: 5 },
      send(3_000, 'b', 'B'),
    ]);
    trace.shows(taken('A'), /a: (started|completed)/, taken('B'));
  });
});
