import type { DraftMatch, PreparedBody } from '../engine.js';
import { COLLAPSE_ABOVE_SCALARS, scalarCount } from './body.js';
import { type Cell, cellsOf, textCells } from './draft-cells.js';

/** Cells left and right of the draft that the engine keeps free. */
const MARGIN_CELLS = 3;
/** How far a wrapped row may fall short of what its next word would have needed. */
const WRAP_SLACK_CELLS = 4;

export interface VisibleDraft {
  readonly rows: readonly string[];
  readonly cols: number;
  /** Rows of the draft may be out of sight above. */
  readonly hiddenAbove: boolean;
  readonly hiddenBelow: boolean;
}

/**
 * Where in the expected text a comparison stands: before cell `at`, with so many columns
 * to come that need not be ours. Seldom more than one: it is a list, not a set.
 */
type Places = { readonly at: number; readonly columnsLeft: number }[];

/**
 * Compares the visible rows with what our paste must look like: its text with
 * tabs as spaces, wrapped at words, long frames as markers.
 */
export function matchRows(draft: VisibleDraft, body: PreparedBody): DraftMatch {
  const shown = draft.rows.join('\n');
  if (shown.trim() === '') return 'empty';
  if (draft.hiddenBelow) return 'other';
  const expected = expectedCells(body, shown);
  const whole = matchFrom([0], draft, expected);
  if (whole === 'exact' || !draft.hiddenAbove) return whole;
  const laterStarts = Array.from({ length: expected.length }, (_, index) => index + 1);
  return matchFrom(laterStarts, draft, expected) === 'exact' ? 'exact' : whole;
}

function matchFrom(
  starts: readonly number[],
  draft: VisibleDraft,
  expected: readonly Cell[],
): DraftMatch {
  let places: Places = starts.map((at) => ({ at, columnsLeft: 0 }));
  for (const [index, row] of draft.rows.entries()) {
    for (const char of textCells(row)) places = step(places, char, expected);
    if (index < draft.rows.length - 1) places = nextRow(places, row, expected, draft.cols);
    if (places.length === 0) return 'other';
  }
  if (places.some(({ at }) => expected.slice(at).every((cell) => cell.char === ' ')))
    return 'exact';
  return 'partial';
}

function add(places: Places, at: number, columnsLeft = 0): void {
  const known = places.some((each) => each.at === at && each.columnsLeft === columnsLeft);
  if (!known) places.push({ at, columnsLeft });
}

/** Cells of bodies that show as their text: the same at every look. */
const cellsOfBody = new WeakMap<PreparedBody, readonly Cell[]>();

function expectedCells(body: PreparedBody, shown: string): readonly Cell[] {
  const known = cellsOfBody.get(body);
  if (known) return known;
  if (body.frames.every((frame) => scalarCount(frame) <= COLLAPSE_ABOVE_SCALARS)) {
    const cells = cellsOf(body.frames.join(''));
    cellsOfBody.set(body, cells);
    return cells;
  }
  const flat = shown.replace(/\n/gu, ' ');
  const text = body.frames.map((frame) => {
    const size = scalarCount(frame);
    if (size <= COLLAPSE_ABOVE_SCALARS) return frame;
    const label = `[Pasted Content ${size} chars]`;
    const at = flat.indexOf(label);
    const number = at < 0 ? null : /^ #\d+/u.exec(flat.slice(at + label.length));
    return `${label}${number?.[0] ?? ''}`;
  });
  return cellsOf(text.join(''));
}

function step(from: Places, char: string, expected: readonly Cell[]): Places {
  const next: Places = [];
  for (const { at, columnsLeft } of from) {
    const cell = expected[at];
    if (cell?.char === char) add(next, at + 1, cell.columnsLeft);
    if (columnsLeft > 0) add(next, at, columnsLeft - 1);
  }
  return next;
}

/** Where the next row may begin: after a line end of ours, or where ours was wrapped. */
function nextRow(from: Places, row: string, expected: readonly Cell[], cols: number): Places {
  const next: Places = [];
  const used = cellsOf(row).reduce((sum, cell) => sum + cell.width, 0);
  const room = cols - MARGIN_CELLS - WRAP_SLACK_CELLS;
  for (const at of new Set(from.map((each) => each.at))) {
    let after = at;
    while (expected[after]?.char === ' ') after += 1;
    if (expected[after]?.char === '\n') add(next, after + 1);
    else if (used + 1 + wordWidth(expected, after) > room) {
      // Spaces at a wrap are shown at either side of it, or not at all.
      for (let start = at; start <= after; start += 1) add(next, start);
    }
  }
  return next;
}

function wordWidth(expected: readonly Cell[], from: number): number {
  let width = 0;
  for (let index = from; index < expected.length; index += 1) {
    const cell = expected[index];
    if (!cell || cell.char === ' ' || cell.char === '\n') break;
    width += cell.width;
  }
  return width;
}
