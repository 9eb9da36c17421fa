import { describe, expect, test } from 'vitest';
import { traitsOf, widthMask } from './cell-width.js';
import { Screen } from './screen.js';
import type { ScreenSnapshot } from './snapshot.js';
import { maxCodePointsPerCell, unicodeProvider } from './unicode-provider.js';

async function show(output: string, cols = 40): Promise<ScreenSnapshot> {
  using screen = new Screen({ cols, rows: 4 });
  screen.feed(output);
  return screen.look();
}

/** What Claude 2.1.280 and 2.1.328 and Codex 0.156.1 and 0.169.0 count, unless said otherwise. */
const widths: readonly [name: string, text: string, cells: number][] = [
  ['a letter', 'x', 1],
  ['ambiguous and box characters', '→§▛─', 4],
  ['private use', '\ue0b0', 1],
  ['an emoji', '😀', 2],
  ['an emoji newer than the Unicode of old Node versions', '🫩', 2],
  ['a family', '👩‍👩‍👧‍👦', 2],
  ['a couple with skin tones', '👩🏽‍🤝‍👨🏻', 2],
  ['joined symbols in emoji presentation', '❤️‍🔥👁️‍🗨️🏴‍☠️🏃‍♂️', 8],
  ['a joined symbol in text presentation (Codex: 3)', '🏃‍♂', 2],
  ['a flag', '🇯🇵', 2],
  ['half a flag (2.1.328: 2)', '🇯', 1],
  ['a flag and a half (2.1.328: 4)', '🇯🇵🇫', 3],
  ['two flags', '🇯🇵🇫🇷', 4],
  ['a flag of tags', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 2],
  ['a skin tone on its emoji', '👍🏽', 2],
  ['a skin tone on a symbol', '☝🏽', 2],
  ['a skin tone behind a presentation selector (all: 4)', '☝️🏽', 3],
  ['a skin tone that nothing takes', 'x🏽😀🏽', 7],
  ['two skin tones', '👍🏽🏽', 4],
  ['symbols', '☺☎©™❤', 5],
  ['symbols in emoji presentation, their second column left out', '☺️☎️©️™️❤️', 5],
  ['an emoji in text presentation (Codex: 1)', '⌚︎', 2],
  ['keycaps, their second column left out', '1️⃣#️⃣', 2],
  ['a keycap without its selector (Claude: 2)', '1⃣', 1],
  ['a digit in emoji presentation (Codex: 2)', '1️', 1],
  ['a letter with a selector, in a circle', 'a️x\u20dd', 2],
  ['Han, kana, fullwidth and halfwidth', '漢字かＡﾊ', 9],
  ['an ideograph with a selector', '葛\u{e0100}', 2],
  ['wide only since Unicode 16', '☰䷀𝌀', 6],
  ['Hangul, composed and not', '한\u1112\u1161\u11ab', 4],
  ['kana with a combining mark', 'か\u3099', 2],
  ['combining marks', 'e\u0301\u0323', 1],
  ['Thai', 'กำก็', 3],
  ['Indic signs (Codex and 2.1.328: 2, 9)', 'कि தமிழ் மொழி', 8],
  ['other spacing marks', 'සිං မာ', 5],
  ['Hebrew with points', 'שָׁלוֹם', 4],
  ['Arabic', 'سلام', 4],
  ['zero-width and bidi characters', 'x\u200b\u202e\u00ad', 1],
  ['a joiner between letters', 'a\u200db', 2],
  ['a joiner between an emoji and a letter', '😀\u200dx', 3],
  ['a joiner between halves of a flag', '🇦\u200d🇧', 2],
];

describe('cells', () => {
  test.each(widths)('%s', async (_name, text, cells) => {
    const { cursor, rows } = await show(`[${text}]`);
    expect(cursor).toEqual({ column: cells + 2, row: 0 });
    expect(rows[0]?.text).toBe(`[${text}]`);
  });

  test.each(widths)('%s, in chunks of a byte', async (_name, text, cells) => {
    using screen = new Screen({ cols: 40, rows: 4 });
    for (const byte of Buffer.from(`[${text}]`)) {
      screen.feed(Uint8Array.of(byte));
      await screen.look();
    }
    const { cursor, rows } = await screen.look();
    expect(cursor.column).toBe(cells + 2);
    expect(rows[0]?.text).toBe(`[${text}]`);
  });

  test.each(widths)('%s, in chunks of a code point', async (_name, text, cells) => {
    using screen = new Screen({ cols: 40, rows: 4 });
    for (const char of `[${text}]`) screen.feed(char);
    expect((await screen.look()).cursor.column).toBe(cells + 2);
  });

  test('every code point has a width that its traits give again', () => {
    for (let codePoint = 0x20; codePoint <= 0x10ffff; codePoint += codePoint < 0x20000 ? 1 : 251) {
      const width = unicodeProvider.wcwidth(codePoint);
      expect(traitsOf(codePoint) & widthMask).toBe(width);
    }
    expect(unicodeProvider.wcwidth(0x1fffff)).toBe(1);
  });
});

test('a row painted full with a family in it does not wrap', async () => {
  const { rows, cursor } = await show(`❯ 👩‍👩‍👧‍👦 x${' '.repeat(14)}\r\nbelow`, 20);
  expect(rows.map((row) => row.text)).toEqual(['❯ 👩‍👩‍👧‍👦 x', 'below', '', '']);
  expect(cursor).toEqual({ column: 5, row: 1 });
});

test('a symbol that a joiner makes wide in the last column moves to the next row', async () => {
  const { rows, cursor } = await show('abc❤️‍🔥d', 4);
  expect(rows.map((row) => row.text)).toEqual(['abc', '❤️‍🔥d', '', '']);
  expect(cursor).toEqual({ column: 3, row: 1 });
});

test('a symbol that a joiner makes wide takes the place of what stood behind it', async () => {
  const { rows } = await show('abcdef\u001b[1;2H❤️‍🔥\u001b[1;4HX');
  expect(rows[0]?.text).toBe('a❤️‍🔥Xef');
});

test('the second column of a symbol is where Codex and Claude paint it', async () => {
  const codex = await show('A☺️ B\u001b[1;5HC');
  expect(codex.rows[0]?.text).toBe('A☺️ BC');
  const claude = await show('A\u001b[3G \u001b[2G☺️\u001b[4GB');
  expect(claude.rows[0]?.text).toBe('A☺️ B');
});

test('behind a control sequence nothing is joined', async () => {
  const { rows, cursor } = await show('a\u001b[1m\u0301\u001b[0m🇯\u001b[1m🇵');
  expect(cursor.column).toBe(4);
  expect(rows[0]?.text).toBe('a\u0301🇯🇵');
});

test('a cell takes only so many code points', async () => {
  const marks = '\u0301'.repeat(maxCodePointsPerCell * 3 + 5);
  using screen = new Screen({ cols: 40, rows: 2 });
  for (const part of [`e${marks.slice(0, 100)}`, marks.slice(100)]) screen.feed(part);
  const { rows, cursor } = await screen.look();
  expect(rows[0]?.text).toBe(`e${marks}`);
  expect(cursor.column).toBe(4);
  const family = '👩\u200d'.repeat(maxCodePointsPerCell);
  expect((await show(family)).cursor.column).toBe(4);
});

test('marks without a cell to join stay on the screen', async () => {
  const { cursor } = await show('\u200b\u001b[m'.repeat(50), 10);
  expect(cursor.column).toBeLessThanOrEqual(10);
});
