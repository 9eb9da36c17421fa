import type headless from '@xterm/headless';
import { defaultStyle, StyleCache, sameStyle, styleOfCell } from './cell-style.js';
import type { CellStyle, ScreenRow, StyledRun } from './snapshot.js';
import {
  codePointMask,
  combinedBit,
  type RawRow,
  rawRow,
  styleBackgroundMask,
  styleForegroundMask,
  widthShift,
  wordsPerCell,
} from './xterm-internals.js';

interface KnownRow {
  /** The terminal's own cells; another array once the terminal has reallocated them. */
  cells: Uint32Array;
  /** A view of `cells`, and their bytes as they were when `row` was read. */
  view: Buffer;
  copy: Buffer;
  /** False where the words don't tell everything: a combined cell keeps its text elsewhere. */
  comparable: boolean;
  cols: number;
  row: ScreenRow;
}

/**
 * Reads buffer rows and remembers each by the terminal's own row object: a row that
 * only moved (scrolling) or was repainted as it was is the same `ScreenRow` again.
 */
export class RowReader {
  readonly #styles = new StyleCache();
  readonly #known = new WeakMap<RawRow, KnownRow>();

  /**
   * `before` stands where this row is read, and is returned when nothing has changed. Cells beyond
   * `cols` are not read: the terminal keeps those of a screen that was wider, and erases them never.
   */
  read(line: headless.IBufferLine, before: ScreenRow | undefined, cols: number): ScreenRow {
    const raw = rawRow(line);
    if (!raw) return keep(before, readPublic(line, cols));
    const known = this.#known.get(raw);
    const cells = raw._data;
    if (
      known?.comparable &&
      known.cells === cells &&
      known.cols === cols &&
      known.row.wrapped === raw.isWrapped &&
      known.view.equals(known.copy)
    )
      return known.row;
    const { row: read, combined } = readRaw(line, raw, this.#styles, cols);
    const row = keep(known?.row, read);
    if (known?.cells === cells) {
      known.view.copy(known.copy);
      known.comparable = !combined;
      known.cols = cols;
      known.row = row;
    } else {
      const view = Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength);
      const entry = { cells, view, copy: Buffer.from(view), comparable: !combined, cols, row };
      this.#known.set(raw, entry);
    }
    return row;
  }
}

function keep(known: ScreenRow | undefined, read: ScreenRow): ScreenRow {
  return known && sameRow(known, read) ? known : read;
}

export function sameRow(a: ScreenRow, b: ScreenRow): boolean {
  if (a.text !== b.text || a.wrapped !== b.wrapped || a.runs.length !== b.runs.length) return false;
  return a.runs.every((run, index) => {
    const other = b.runs[index];
    return (
      other !== undefined &&
      run.column === other.column &&
      run.text === other.text &&
      sameStyle(run.style, other.style)
    );
  });
}

interface OpenRun {
  column: number;
  text: string;
  style: CellStyle;
}

/** Where a row's UTF-16 units are put together; grows to the widest row seen. */
let units = new Uint16Array(1_024);
let unitBytes: Buffer = Buffer.from(units.buffer);
/** The runs of the row being read; only the first few entries count. */
const runColumns: number[] = [];
const runStarts: number[] = [];
const runStyles: CellStyle[] = [];

function readRaw(
  line: headless.IBufferLine,
  raw: RawRow,
  styles: StyleCache,
  cols: number,
): { row: ScreenRow; combined: boolean } {
  const cells = raw._data;
  if (units.length < raw.length * 2) {
    units = new Uint16Array(raw.length * 4);
    unitBytes = Buffer.from(units.buffer);
  }
  // Blank cells of the default style at the end belong to no run.
  let end = Math.min(cells.length, cols * wordsPerCell);
  while (end > 0 && isUnseen(cells, end - wordsPerCell)) end -= wordsPerCell;

  let count = 0;
  let foreground = -1;
  let background = -1;
  let length = 0;
  for (let at = 0; at < end; at += wordsPerCell) {
    const content = cells[at] ?? 0;
    if (content >>> widthShift === 0) continue;
    if (content & combinedBit) return { row: readPublic(line, cols), combined: true };
    const cellForeground = (cells[at + 1] ?? 0) & styleForegroundMask;
    const cellBackground = (cells[at + 2] ?? 0) & styleBackgroundMask;
    if (cellForeground !== foreground || cellBackground !== background) {
      foreground = cellForeground;
      background = cellBackground;
      const style = styles.get(foreground, background);
      // A palette colour's word keeps what is left of an RGB colour before it.
      const last = count > 0 ? runStyles[count - 1] : undefined;
      if (!last || !sameStyle(last, style)) {
        runColumns[count] = at / wordsPerCell;
        runStarts[count] = length;
        runStyles[count] = style;
        count += 1;
      }
    }
    const codePoint = content & codePointMask;
    if (codePoint > 0xffff) {
      units[length++] = 0xd800 + ((codePoint - 0x10000) >> 10);
      units[length++] = 0xdc00 + ((codePoint - 0x10000) & 0x3ff);
    } else units[length++] = codePoint === 0 ? 32 : codePoint;
  }
  const text = unitBytes.toString('utf16le', 0, length * 2);
  const runs: StyledRun[] = [];
  for (let index = 0; index < count; index += 1)
    runs.push({
      column: runColumns[index] ?? 0,
      text: text.slice(runStarts[index], index + 1 < count ? runStarts[index + 1] : length),
      style: runStyles[index] ?? defaultStyle,
    });
  return { row: { text: text.trimEnd(), runs, wrapped: raw.isWrapped }, combined: false };
}

/** A blank of the default style, or the second half of a wide character. */
function isUnseen(cells: Uint32Array, at: number): boolean {
  const content = cells[at] ?? 0;
  if (content >>> widthShift === 0) return true;
  const codePoint = content & codePointMask;
  return (
    (codePoint === 0 || codePoint === 32) &&
    (content & combinedBit) === 0 &&
    ((cells[at + 1] ?? 0) & styleForegroundMask) === 0 &&
    ((cells[at + 2] ?? 0) & styleBackgroundMask) === 0
  );
}

/** The same row through the public API alone. */
export function readPublic(line: headless.IBufferLine, cols: number): ScreenRow {
  const runs: OpenRun[] = [];
  let pendingBlanks = '';
  let pendingColumn = 0;
  for (let column = 0; column < Math.min(cols, line.length); column += 1) {
    const cell = line.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const chars = cell.getChars() || ' ';
    const style = styleOfCell(cell);
    const isDefault = sameStyle(style, defaultStyle);
    if (isDefault && chars === ' ') {
      if (pendingBlanks === '') pendingColumn = column;
      pendingBlanks += ' ';
      continue;
    }
    if (pendingBlanks !== '') {
      append(runs, pendingColumn, pendingBlanks, defaultStyle);
      pendingBlanks = '';
    }
    append(runs, column, chars, style);
  }
  return finish(runs, line.isWrapped);
}

function append(runs: OpenRun[], column: number, text: string, style: CellStyle): void {
  const last = runs.at(-1);
  if (last && sameStyle(last.style, style)) last.text += text;
  else runs.push({ column, text, style });
}

function finish(runs: readonly StyledRun[], wrapped: boolean): ScreenRow {
  let text = '';
  for (const run of runs) text += run.text;
  return { text: text.trimEnd(), runs, wrapped };
}
