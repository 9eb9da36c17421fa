import { type Output, shown } from './output.js';

export type Row = readonly string[];

/** Columns wide enough for what is in them; the last one is left as it is. */
export function tableLines(head: Row, rows: readonly Row[]): readonly string[] {
  const all = [head, ...rows].map((row) => row.map((cell) => shown(cell).replaceAll('\n', ' ')));
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(column === row.length - 1 ? 0 : (widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

export function printTable(output: Output, head: Row, rows: readonly Row[]): void {
  const [first = '', ...rest] = tableLines(head, rows);
  output.text(output.style('dim', first));
  for (const line of rest) output.text(line);
}
