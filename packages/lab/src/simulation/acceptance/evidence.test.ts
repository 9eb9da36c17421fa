import { expect, test } from 'vitest';
import { play, send, taken } from './testing/play.js';

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
  trace.shows('a: delivered direct submitted', 'hold=menu').never(/a: .*accepted by composer_left/);
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

test('[E15] a text that stood there before we acted earns no credit', async () => {
  const trace = await play(
    [
      { do: 'person', session: 0, keys: 'A\r', atMs: 100 },
      { do: 'swallow', session: 0, enters: 9, on: 'paste_leaves', of: 0, nth: 1, afterMs: 0 },
      send(1_500, 'a', 'A'),
    ],
    { rule: 'native_queue' },
  );
  trace.shows('the engine takes "A" (person)', 'paste leaves').never(taken('A'));
  trace.shows('a: unknown direct unconfirmed (input_acceptance_unconfirmed)');
});

test('[E16] a spinner that turns is no acceptance', async () => {
  const trace = await play(
    [
      { do: 'person', session: 0, keys: 'work\r', atMs: 100 },
      { do: 'swallow', session: 0, enters: 9, on: 'paste_leaves', of: 0, nth: 1, afterMs: 0 },
      send(400, 'a', 'A'),
    ],
    { turnMs: [15_000, 15_000], spinnerMs: 20 },
  );
  trace.shows('the engine takes "work" (person)', 'a: unknown');
  trace.never(/a: .*accepted/);
});

test('[E17] a turn that ends without naming the input completes nothing', async () => {
  const trace = await play([send(100, 'a', 'A'), send(2_000, 'b', 'B')], { recordLossShare: 1 });
  trace.shows(taken('A'), 'the turn ends', taken('B'), 'the turn ends').never(/[ab]: completed/);
});

test('[E18] a reading that arrives after a rebind is ignored', async () => {
  const trace = await play(
    [
      send(100, 'a', 'A'),
      { do: 'restart', engines: 'survive', on: 'look_asked', of: 0, nth: 2, afterMs: 0 },
      send(5_000, 'b', 'B'),
    ],
    {},
    { lookMs: [40, 40] },
  );
  expect(trace.count(/paste leaves/)).toBe(1);
  trace.shows('a: rejected', taken('B')).never(taken('A'));
});

test('[E19] a reading of an agent that has gone types nothing', async () => {
  const trace = await play(
    [{ do: 'die', session: 0, on: 'look_asked', of: 0, nth: 2, afterMs: 0 }, send(100, 'a', 'A')],
    {},
    { lookMs: [40, 40] },
  );
  trace.shows(/a: rejected .*(agent_gone|runtime_gone_pre_paste)/).never(/paste leaves/);
});

test('[E20] a new process that is killed before it reaches the agent costs the next one no proof', async () => {
  const unwritten = await play([
    send(100, 'a', 'A'),
    {
      ...{ do: 'restart', engines: 'survive', unadopted: 2 },
      ...{ on: 'paste_leaves', of: 0, nth: 1, afterMs: 0 },
    },
    send(3_000, 'b', 'B'),
  ]);
  unwritten.shows('a: unknown', 'a: rejected', taken('B'), 'calm').never(taken('A'));
});

test('[E21] a process that is killed while it takes a text back leaves no barrier behind', async () => {
  const trace = await play([
    { do: 'restart', engines: 'survive', on: 'paste_read', of: 0, nth: 1, afterMs: 0 },
    { do: 'restart', engines: 'survive', on: 'erase_leaves', of: 0, nth: 1, afterMs: 1 },
    send(100, 'a', 'A'),
    send(5_000, 'b', 'B'),
  ]);
  trace.shows('erase leaves', 'the draft is erased', taken('B'), 'calm').never(taken('A'));
});

test('[E22] a barrier that was lifted is not put up again by a later process', async () => {
  const trace = await play([
    { do: 'restart', engines: 'survive', on: 'paste_read', of: 0, nth: 1, afterMs: 0 },
    { do: 'restart', engines: 'survive', on: 'erase_leaves', of: 0, nth: 1, afterMs: 1 },
    send(100, 'a', 'A'),
    send(5_000, 'b', 'B'),
    { do: 'restart', engines: 'survive', atMs: 10_000 },
    send(12_000, 'c', 'C'),
  ]);
  trace.shows('a: unknown', taken('B'), 'b: completed', taken('C'), 'calm').never(taken('A'));
});
