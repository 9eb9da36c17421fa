import { fileURLToPath } from 'node:url';
import { Screen, type ScreenSnapshot } from '@ostler/terminal';
import { describe, expect, test } from 'vitest';
import type { DraftMatch } from '../engine.js';
import { loadCast, replayScreens } from '../recordings/index.js';
import { ClaudeReader } from './reader.js';
import { composerWidth, countRows } from './wrap.js';

const cast = (name: string): string =>
  fileURLToPath(new URL(`../../../../fixtures/claude/${name}.cast`, import.meta.url));

/** Every text that was pasted and then submitted, with the instant before its Enter. */
async function submissions(name: string): Promise<{ text: string; atSeconds: number }[]> {
  const { events } = await loadCast(cast(name));
  const found: { text: string; atSeconds: number }[] = [];
  let text = '';
  for (const event of events) {
    if (event.kind !== 'i') continue;
    const paste = /^\u001b\[200~([\s\S]*)\u001b\[201~$/.exec(event.data);
    if (paste) text += paste[1];
    if (event.data !== '\r') continue;
    if (text !== '') found.push({ text, atSeconds: event.atSeconds - 0.001 });
    text = '';
  }
  return found;
}

describe('drafts of a recording', () => {
  const reader = new ClaudeReader('2.1.328');

  test('5 to 16 KB in frames: each is exact before its Enter, and is nobody else’s', async () => {
    const all = (await submissions('2.1.328/s20-chunked')).slice(0, 13);
    expect(all).toHaveLength(13);
    // The third Enter came before the echo was whole.
    const sent = all.filter((_, index) => index !== 2);
    const screens = replayScreens(
      cast('2.1.328/s20-chunked'),
      sent.map(({ atSeconds }) => atSeconds),
    );
    for (const { text } of sent) {
      const { value: snapshot } = await screens.next();
      if (!snapshot) throw new Error('a replay yields one screen a moment');
      const reading = reader.read(snapshot);
      const match = (other: string): DraftMatch =>
        reader.matchDraft(reading, { frames: [other], text: other }, snapshot);
      expect(match(text)).toBe('exact');
      expect(match(`${text} more`)).toBe('partial');
      expect(match(text.slice(0, -3))).not.toBe('exact');
      expect(match(`a line before\n${text}`)).not.toBe('exact');
      expect(match('something else')).toBe('other');
    }
  });

  test('2.1.280 scrolls without a count', async () => {
    const text = `typed ${Array.from({ length: 40 }, (_, line) => `row ${line + 1}\n`).join('')}`;
    const older = new ClaudeReader('2.1.280');
    const at = ['taller than the screen'];
    for await (const snapshot of replayScreens(cast('2.1.280/drafts'), at)) {
      const body = (other: string): { frames: string[]; text: string } => ({
        frames: [other],
        text: other,
      });
      const reading = older.read(snapshot);
      expect(older.matchDraft(reading, body(text.trimEnd()), snapshot)).toBe('exact');
      expect(older.matchDraft(reading, body('row 40'), snapshot)).toBe('other');
      expect(reader.matchDraft(reading, body(text.trimEnd()), snapshot)).toBe('other');
    }
  });
});

/** A composer painted as Claude Code paints it. */
async function painted(rows: readonly string[], label = ''): Promise<ScreenSnapshot> {
  using screen = new Screen({ cols: 100, rows: 32 });
  const rule = '─'.repeat(100);
  const top = label === '' ? rule : `─── ${label} ${'─'.repeat(100 - label.length - 5)}`;
  const body = rows.map((row, index) => `${index === 0 && label === '' ? '❯ ' : '  '}${row}`);
  screen.feed('\u001b]0;✳ Claude Code\u0007\u001b[?2004h\u001b[?1049h\u001b[?25l\u001b[H');
  screen.feed(
    [top, ...body.slice(0, -1), `${body.at(-1)}\u001b[7m \u001b[27m`, rule, '  footer'].join(
      '\r\n',
    ),
  );
  return screen.look();
}

describe('what the screen may change, and what it may not', () => {
  const reader = new ClaudeReader('2.1.328');
  const cases: [string, string, string[], DraftMatch][] = [
    ['nothing yet', 'hello', [''], 'empty'],
    ['the beginning', 'hello there', ['hello th'], 'partial'],
    ['all of it', 'hello there', ['hello there'], 'exact'],
    ['wrapped', 'hello there', ['hello', 'there'], 'exact'],
    ['blank lines', 'a\n\nb', ['a', '', 'b'], 'exact'],
    ['a person’s words in front', 'hello', ['now hello'], 'other'],
    ['a person’s words behind', 'hello', ['hello now'], 'other'],
    ['a person’s words inside', 'hello there', ['hello, there'], 'other'],
    ['an emoji dropped', 'go 👩\u200d👧 now', ['go  now'], 'exact'],
    ['an emoji cut', 'go 👩\u200d👩\u200d👧 now', ['go 👩\u200d now'], 'exact'],
    ['an emoji added', 'go now', ['go 👍 now'], 'other'],
    ['CJK over two rows', '漢字かな交じり文', ['漢字かな', '交じり文'], 'exact'],
    ['combining marks', 'z\u0351\u036bx', ['zx'], 'exact'],
    ['right to left', 'שלום עולם', ['שלום עולם'], 'exact'],
    ['words like a marker', '[Pasted text #1 +3 lines]', ['[Pasted text #1 +3 lines]'], 'exact'],
    ['our collapse', 'a\nb\nc\nd', ['[Pasted text #4 +3 lines]'], 'exact'],
    ['another size', 'a\nb\nc\nd', ['[Pasted text #4 +2 lines]'], 'other'],
    ['a collapse and words', 'a\nb\nc\nd', ['[Pasted text #4 +3 lines] x'], 'other'],
    ['an attachment', 'see the picture', ['[Image #1]'], 'other'],
  ];
  test.each(cases)('%s', async (_name, text, rows, expected) => {
    const snapshot = await painted(rows);
    const reading = reader.read(snapshot);
    expect(reading.composer).not.toBeNull();
    expect(reader.matchDraft(reading, { frames: [text], text }, snapshot)).toBe(expected);
  });

  test('hidden rows have to be as many as ours need', async () => {
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line}`);
    const text = lines.join('\n');
    const snapshot = await painted(lines.slice(9), '↑ 9 more');
    expect(reader.matchDraft(reader.read(snapshot), { frames: [], text }, snapshot)).toBe('exact');
    const more = await painted(lines.slice(9), '↑ 10 more');
    expect(reader.matchDraft(reader.read(more), { frames: [], text }, more)).toBe('other');
  });
});

test('rows as the composer wraps them (claude 2.1.328, s1-idle-drafts at 7.3)', () => {
  const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
  expect(countRows(`${words}${'x'.repeat(121)}`, composerWidth(100))).toBe(4);
  expect(countRows('a'.repeat(96), 96)).toBe(1);
  expect(countRows('a'.repeat(97), 96)).toBe(2);
  expect(countRows('漢'.repeat(49), 96)).toBe(2);
  expect(countRows('a\n\nb', 96)).toBe(3);
});
