import { test } from 'vitest';
import { play, send, taken } from './testing/play.js';

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
