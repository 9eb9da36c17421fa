import type { DemoReport } from './demo-report.js';
import { headerRow, lastEntry, receiptCells, rowOf } from './receipt-row.js';

/** The end of a demo in words: the receipts, what the model was given, whether they agree. */
export function summaryLines(report: DemoReport): string[] {
  const { claims, engine, modelReceived, receipts, version } = report;
  return [
    '',
    `${engine} ${version ?? '(unknown version)'}`,
    headerRow,
    ...receipts.map((receipt) => rowOf(receiptCells(receipt.idempotencyKey, lastEntry(receipt)))),
    '',
    'What the model was given:',
    ...modelReceived.map(({ text, count }) => `  ${count} × ${JSON.stringify(text)}`),
    '',
    ...(claims.agree
      ? ['Every receipt agrees with what the model was given.']
      : claims.failed.map((failure) => `Claim failed: ${failure}`)),
  ];
}
