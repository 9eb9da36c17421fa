import type { ModelReceived, ReportedReceipt } from './demo-report.js';

export interface Judged {
  readonly receipts: readonly ReportedReceipt[];
  readonly modelReceived: readonly ModelReceived[];
  /** Dialogs that a key of ours answered. */
  readonly strayAnswers: number;
}

/** Every claim that the model's side contradicts, in words. Empty: they all agree. */
export function failedClaims({ receipts, modelReceived, strayAnswers }: Judged): string[] {
  const failed: string[] = [];
  for (const receipt of receipts) {
    const count = modelReceived
      .filter(({ text }) => same(text, receipt.text))
      .reduce((sum, entry) => sum + entry.count, 0);
    const { least, most, claim } = claimed(receipt);
    if (count < least || count > most) {
      failed.push(`${receipt.idempotencyKey}: ${claim}, but the model received it ${times(count)}`);
    }
  }
  for (const { text } of modelReceived) {
    if (receipts.some((receipt) => same(text, receipt.text))) continue;
    const parts = receipts.filter((receipt) => text.includes(receipt.text.trim()));
    const keys = parts.map(({ idempotencyKey }) => idempotencyKey).join(' and ');
    failed.push(
      parts.length > 0
        ? `${keys}: the model received it joined with other text`
        : `the model received a text that nobody sent: ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
  if (strayAnswers > 0) failed.push(`a dialog was answered by our keys ${times(strayAnswers)}`);
  return failed;
}

function claimed(receipt: ReportedReceipt): { least: number; most: number; claim: string } {
  const { error, input, state } = receipt;
  if (state === 'rejected') {
    return { least: 0, most: 0, claim: `rejected (${error?.code ?? 'no reason'})` };
  }
  if (state === 'started' || state === 'completed') return { least: 1, most: 1, claim: state };
  if (input?.phase === 'accepted') return { least: 1, most: 1, claim: 'accepted' };
  if (state === 'queued') return { least: 0, most: 0, claim: 'still queued, nothing written' };
  return { least: 0, most: 1, claim: `${state}, at most once` };
}

function same(one: string, other: string): boolean {
  return one.replace(/\r\n?/g, '\n').trim() === other.replace(/\r\n?/g, '\n').trim();
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
