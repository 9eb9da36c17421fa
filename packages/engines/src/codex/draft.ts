import type { DraftMatch, PreparedBody } from '../engine.js';
import { COLLAPSE_ABOVE_SCALARS, scalarCount } from './body.js';

/** Cells right and left of the draft that the engine keeps free. */
const MARGIN_CELLS = 3;
/** How far a wrapped row may fall short of what its next word would have needed. */
const WRAP_SLACK_CELLS = 4;

export interface VisibleDraft {
  readonly rows: readonly string[];
  readonly cols: number;
  readonly hiddenAbove: boolean;
  readonly hiddenBelow: boolean;
}

/**
 * Compares the visible rows with what our paste must look like: its text with
 * tabs as spaces, wrapped at words, long frames as markers. Works on what is
 * certain about cells: marks and zero-width characters are left out on both
 * sides, since terminals and engines disagree on where they stand.
 */
export function matchRows(draft: VisibleDraft, body: PreparedBody): DraftMatch {
  const shown = draft.rows.join('\n');
  if (shown.trim() === '') return 'empty';
  const expected = expectedCells(body, shown);
  if (draft.hiddenBelow) return 'other';
  let at = draft.hiddenAbove ? everyStart(expected) : new Set([0]);
  for (const [index, row] of draft.rows.entries()) {
    at = matchRow(at, cells(row), expected);
    if (at.size === 0) return 'other';
    if (index < draft.rows.length - 1) at = nextRow(at, row, expected, draft.cols);
    if (at.size === 0) return 'other';
  }
  for (const position of at) if (onlySpacesAfter(expected, position)) return 'exact';
  return draft.hiddenAbove ? 'other' : 'partial';
}

/** One entry a visible character; the joining of marks is left to the terminal. */
function cells(text: string): string[] {
  const plain = text
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return [...plain].map((char) => (/\p{White_Space}/u.test(char) && char !== '\n' ? ' ' : char));
}

function expectedCells(body: PreparedBody, shown: string): string[] {
  const flat = shown.replace(/\n/gu, ' ');
  return body.frames.flatMap((frame) => {
    const size = scalarCount(frame);
    if (size <= COLLAPSE_ABOVE_SCALARS) return cells(frame);
    const label = `[Pasted Content ${size} chars]`;
    const suffix = flat.includes(label) ? / #\d+/y : null;
    if (suffix) suffix.lastIndex = flat.indexOf(label) + label.length;
    return cells(`${label}${suffix?.exec(flat)?.[0] ?? ''}`);
  });
}

function everyStart(expected: readonly string[]): Set<number> {
  return new Set(Array.from({ length: expected.length }, (_, index) => index + 1));
}

function matchRow(
  from: ReadonlySet<number>,
  row: readonly string[],
  expected: readonly string[],
): Set<number> {
  let at = from;
  let behindWide: ReadonlySet<number> = new Set();
  for (const char of row) {
    // Where the terminal takes a wide character for a narrow one, the cell behind
    // it keeps what stood there before.
    const next = new Set(behindWide);
    const nextBehindWide = new Set<number>();
    for (const position of at) {
      if (expected[position] !== char) continue;
      next.add(position + 1);
      if (isAstralWide(char)) nextBehindWide.add(position + 1);
    }
    if (next.size === 0) return next;
    at = next;
    behindWide = nextBehindWide;
  }
  return new Set(at);
}

/** Where the next row may begin: after a line end of ours, or where ours was wrapped. */
function nextRow(
  from: ReadonlySet<number>,
  row: string,
  expected: readonly string[],
  cols: number,
): Set<number> {
  const next = new Set<number>();
  for (const position of from) {
    let after = position;
    while (expected[after] === ' ') after += 1;
    if (expected[after] === '\n') next.add(after + 1);
    else if (isWrapPlausible(row, expected, after, cols)) {
      // Spaces at a wrap are shown at either side of it, or not at all.
      for (let start = position; start <= after; start += 1) next.add(start);
    }
  }
  return next;
}

function isWrapPlausible(
  row: string,
  expected: readonly string[],
  next: number,
  cols: number,
): boolean {
  let word = 0;
  for (let index = next; index < expected.length; index += 1) {
    const char = expected[index] ?? ' ';
    if (char === ' ' || char === '\n') break;
    word += cellWidth(char);
  }
  let used = 0;
  for (const char of cells(row)) used += cellWidth(char);
  return used + 1 + word > cols - MARGIN_CELLS - WRAP_SLACK_CELLS;
}

function isAstralWide(char: string): boolean {
  return (char.codePointAt(0) ?? 0) > 0xffff && cellWidth(char) === 2;
}

function cellWidth(char: string): number {
  return /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uff60]/u.test(
    char,
  )
    ? 2
    : 1;
}

function onlySpacesAfter(expected: readonly string[], position: number): boolean {
  for (let index = position; index < expected.length; index += 1) {
    if (expected[index] !== ' ') return false;
  }
  return true;
}
