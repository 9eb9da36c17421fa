import { expect, test } from 'vitest';
import { play, send, taken } from './testing/play.js';

const awkward = [
  'a tab\tand a backslash at the end \\',
  '# @ & ? in front',
  '!not a shell command',
  'emoji \u{1f469}\u200d\u{1f4bb}, \u65e5\u672c\u8a9e, \u05e9\u05dc\u05d5\u05dd, e\u0301',
  '[Pasted text #1 +3 lines]',
];

test.each(awkward)('[T01] %s arrives exactly', async (text) => {
  const trace = await play([send(100, 'a', text)]);
  trace.shows(`the engine takes ${JSON.stringify(text)} (us)`, 'a: completed');
});

test('[T01] a text that is a command of the engine is refused, and nothing is typed', async () => {
  const trace = await play([send(100, 'a', '/clear'), send(200, 'b', 'B')]);
  trace.shows(/a: rejected .*slash_command/, taken('B')).never(taken('/clear'));
});

test('[T02] 16 KiB in many lines and in one', async () => {
  const line = 'x'.repeat(16 * 1024);
  const lines = Array.from({ length: 256 }, (_, index) => `line ${index}`.padEnd(63)).join('\n');
  const trace = await play([send(100, 'a', line), send(3_000, 'b', lines)]);
  trace.shows(taken(line), 'a: completed', 'the engine takes', 'b: completed');
  expect(trace.count(/paste leaves/)).toBe(2);
});

test.each(['\u001b[201~', 'in\u001b[201~side', '\u001b[2\u001b[201~01~', '\u009b201~'])(
  '[T03] a bracket in the text closes no frame: %j',
  async (bracket) => {
    const trace = await play([send(100, 'a', `before ${bracket}\rafter`), send(3_000, 'b', 'B')]);
    trace.shows(taken('B'), 'b: completed').never(/takes "(after|before )" \(us\)/);
    expect(trace.count(/enter leaves/)).toBeLessThanOrEqual(2);
  },
);
