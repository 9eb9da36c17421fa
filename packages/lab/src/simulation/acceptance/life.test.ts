import { expect, test } from 'vitest';
import { play, send, taken } from './testing/play.js';

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

test('[L09] the ninth waiting input, and more than 24 KiB of them, are refused', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  const many = await play([
    { do: 'open', session: 0, dialog: 'permission', atMs: 90 },
    ...keys.map((key, index) => send(100 + 10 * index, key, `text of ${key}`)),
    { do: 'close', session: 0, atMs: 3_000 },
  ]);
  many.shows(/j: rejected .*queue_full/, 'a dialog closes');
  many.shows(...keys.slice(0, 8).map((key) => taken(`text of ${key}`)));
  const large = await play([
    { do: 'open', session: 0, dialog: 'permission', atMs: 90 },
    ...['a', 'b', 'c'].map((key, index) => send(100 + 10 * index, key, key.repeat(13 * 1024))),
  ]);
  large.shows(/c: rejected .*queue_full/).never(/(a|b): rejected/);
});

test('[L10] 64 unresolved inputs: the next is refused', async () => {
  const sends = Array.from({ length: 66 }, (_, index) =>
    send(100 + 200 * index, `key-${index}`, `text ${index}`),
  );
  const trace = await play(sends, { recordLossShare: 1, turnMs: [100, 100] });
  trace.shows(taken('text 63'), /key-64: rejected .*queue_full/);
  expect(trace.count(/paste leaves/)).toBe(64);
});
