import type { CellStyle, ScreenRow, ScreenSnapshot } from '@ostler/terminal';

export interface Piece {
  readonly text: string;
  readonly style: CellStyle;
}

/** A rule `────` across the whole width, a label in it allowed: the composer's and the dialogs' border. */
export function isRule(row: ScreenRow, cols: number): boolean {
  const { text } = row;
  return (
    text.startsWith('──') && text.endsWith('─') && text.length <= cols && text.length > cols / 2
  );
}

/** The upper border `▔▔▔▔` of a full-width panel; 2.1.280 writes a label into it. */
export function isPanelBorder(row: ScreenRow): boolean {
  return /^▔{8}.*▔$/.test(row.text);
}

export function lastIndexWhere(
  rows: readonly ScreenRow[],
  test: (row: ScreenRow) => boolean,
  before: number = rows.length,
): number {
  for (let y = Math.min(before, rows.length) - 1; y >= 0; y -= 1) {
    const row = rows[y];
    if (row && test(row)) return y;
  }
  return -1;
}

export function textsBetween(snapshot: ScreenSnapshot, from: number, to: number): string[] {
  return snapshot.rows.slice(Math.max(0, from), to).map((row) => row.text);
}

/** The row's runs without its first `count` cells, which have to be narrow. */
export function piecesAfter(row: ScreenRow, count: number): Piece[] {
  const pieces: Piece[] = [];
  let skip = count;
  for (const run of row.runs) {
    const text = run.text.slice(skip);
    skip = Math.max(0, skip - run.text.length);
    if (text !== '') pieces.push({ text, style: run.style });
  }
  return pieces;
}
