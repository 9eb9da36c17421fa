import type { Receipt } from '@ostler/protocol';
import type { Clock } from '@ostler/runtime';
import type { HistoryEntry, ReportedReceipt } from './demo-report.js';

interface Followed {
  readonly text: string;
  readonly sentAtMs: number;
  readonly history: HistoryEntry[];
  receipt: Receipt | null;
}

export interface LoggedChange {
  readonly key: string;
  readonly entry: HistoryEntry;
}

/** Follows the demo's receipts and remembers each of their states. */
export class ReceiptLog {
  readonly #clock: Clock;
  readonly #followed = new Map<string, Followed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call right before the text is sent. */
  sending(key: string, text: string): void {
    this.#followed.set(key, {
      text,
      sentAtMs: this.#clock.monotonicMs(),
      history: [],
      receipt: null,
    });
  }

  /** Takes a receipt; null where it isn't followed or says nothing new. */
  note(receipt: Receipt): LoggedChange | null {
    const key = receipt.idempotencyKey;
    const followed = this.#followed.get(key);
    if (!followed) return null;
    followed.receipt = receipt;
    const entry = entryOf(receipt, Math.round(this.#clock.monotonicMs() - followed.sentAtMs));
    const last = followed.history.at(-1);
    if (last && sameButTime(last, entry)) return null;
    followed.history.push(entry);
    return { key, entry };
  }

  /** Milliseconds since the text of `key`, or the first one of all, was sent. */
  ageMs(key?: string): number {
    const [first] = this.#followed.values();
    const followed = key === undefined ? first : this.#followed.get(key);
    return followed ? Math.round(this.#clock.monotonicMs() - followed.sentAtMs) : 0;
  }

  receipts(): readonly ReportedReceipt[] {
    const [first] = this.#followed.values();
    return [...this.#followed].flatMap(([key, { history, receipt, sentAtMs, text }]) =>
      receipt
        ? [
            {
              idempotencyKey: key,
              deliveryId: receipt.deliveryId,
              text,
              sentAtMs: Math.round(sentAtMs - (first?.sentAtMs ?? 0)),
              state: receipt.state,
              error: receipt.error,
              input: receipt.input
                ? { mode: receipt.input.mode, phase: receipt.input.phase }
                : null,
              history: [...history],
            },
          ]
        : [],
    );
  }
}

function entryOf(receipt: Receipt, atMs: number): HistoryEntry {
  const { input, state } = receipt;
  return {
    state,
    mode: input?.mode ?? null,
    phase: input?.phase ?? null,
    ...(input?.hold === undefined ? {} : { hold: input.hold }),
    ...(input?.evidence === undefined ? {} : { evidence: input.evidence }),
    atMs,
  };
}

function sameButTime(one: HistoryEntry, other: HistoryEntry): boolean {
  return (
    one.state === other.state &&
    one.mode === other.mode &&
    one.phase === other.phase &&
    one.hold === other.hold &&
    one.evidence === other.evidence
  );
}
