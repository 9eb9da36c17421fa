import type { HistoryEntry, ReportedReceipt } from './demo-report.js';

/** The columns of the receipts' table, left to right, with their widths in cells. */
export const receiptColumns = [
  { title: 'receipt', width: 8 },
  { title: 'mode', width: 13 },
  { title: 'phase', width: 19 },
  { title: 'state', width: 10 },
  { title: 'hold / evidence', width: 20 },
  { title: 'after', width: 9 },
] as const;

export const tableWidth: number = receiptColumns.reduce((sum, { width }) => sum + width, 0);

/** What became of a text, as cells of one row; `ageMs` in place of the entry's own time. */
export function receiptCells(
  key: string,
  entry: HistoryEntry | undefined,
  ageMs: number = entry?.atMs ?? 0,
): string[] {
  if (!entry) return [key, '', '', '', '', ''];
  const because =
    entry.hold === undefined
      ? entry.evidence
        ? `by ${entry.evidence}`
        : ''
      : `hold: ${entry.hold}`;
  return [key, entry.mode ?? '', entry.phase ?? '', entry.state, because, duration(ageMs)];
}

export function rowOf(cells: readonly string[]): string {
  return receiptColumns
    .map(({ width }, index) => pad(cells[index] ?? '', width))
    .join('')
    .trimEnd();
}

export const headerRow: string = rowOf(receiptColumns.map(({ title }) => title));

export function lastEntry(receipt: ReportedReceipt): HistoryEntry | undefined {
  return receipt.history.at(-1);
}

function pad(text: string, width: number): string {
  const characters = [...text];
  if (characters.length < width) return text + ' '.repeat(width - characters.length);
  return `${characters.slice(0, width - 2).join('')}… `;
}

function duration(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
