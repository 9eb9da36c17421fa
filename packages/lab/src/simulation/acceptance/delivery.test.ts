import { expect, test } from 'vitest';
import { play, send, taken } from './testing/play.js';

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

test('[D12] an engine whose busy rule nobody knows is never called steering', async () => {
  const trace = await play([send(100, 'a', 'A'), send(300, 'b', 'B')], { rule: 'merging' });
  trace.shows('b: delivered native_input').never(/steering/);
});
