import type { InputMode } from '@ostler/protocol';
import type { Statement } from 'better-sqlite3';
import type { StoreDatabase } from './database.js';
import type { DispatchMark, DispatchStep, StepRecord } from './receipt-store.js';
import type { ReceiptRow } from './receipts.js';

interface DispatchRow {
  readonly mode: InputMode | null;
  readonly pid: number | null;
  readonly start_time: string | null;
  readonly fingerprint: string | null;
  readonly at_ms: number;
}

/** Steps noted of one delivery: a paste and an Enter, two more Enters, and room. */
const maxStepsCount = 16;

/** What was done to a terminal or a native door for each delivery, noted before it was done. */
export class DispatchJournal {
  readonly #insert: Statement<
    [number, InputMode | null, number | null, string | null, string | null, number]
  >;
  readonly #byDelivery: Statement<[number], DispatchRow>;
  readonly #insertStep: Statement<[DispatchStep, number, string, number]>;
  readonly #steps: Statement<[number], { step: DispatchStep; at_ms: number }>;

  constructor(database: StoreDatabase) {
    const { connection } = database;
    this.#insert = connection.prepare(`
      INSERT INTO dispatches (delivery, mode, pid, start_time, fingerprint, at_ms)
      VALUES (?, ?, ?, ?, ?, ?)`);
    this.#byDelivery = connection.prepare('SELECT * FROM dispatches WHERE delivery = ?');
    this.#insertStep = connection.prepare(`
      INSERT INTO dispatch_steps (delivery, step, at_ms)
      SELECT delivery, ?, ? FROM dispatches JOIN receipts ON ordinal = delivery
      WHERE delivery_id = ?
        AND (SELECT count(*) FROM dispatch_steps s WHERE s.delivery = dispatches.delivery) < ?`);
    this.#steps = connection.prepare(
      'SELECT step, at_ms FROM dispatch_steps WHERE delivery = ? ORDER BY ordinal',
    );
  }

  mark(row: ReceiptRow, mark: DispatchMark): void {
    const { pid, startTime, fingerprint, atMs } = mark;
    this.#insert.run(row.ordinal, mark.mode ?? null, pid, startTime, fingerprint, atMs);
  }

  /** False where the delivery has no mark, or as many steps as are kept. */
  step(deliveryId: string, step: DispatchStep, atMs: number): boolean {
    return this.#insertStep.run(step, atMs, deliveryId, maxStepsCount).changes === 1;
  }

  markOf(row: ReceiptRow): DispatchMark | null {
    const found = row.dispatched === 1 ? this.#byDelivery.get(row.ordinal) : undefined;
    if (found === undefined) return null;
    return {
      deliveryId: row.delivery_id,
      ...(found.mode === null ? {} : { mode: found.mode }),
      pid: found.pid,
      startTime: found.start_time,
      fingerprint: found.fingerprint,
      atMs: found.at_ms,
    };
  }

  stepsOf(row: ReceiptRow): StepRecord[] {
    if (row.dispatched === 0) return [];
    return this.#steps.all(row.ordinal).map(({ step, at_ms }) => ({ step, atMs: at_ms }));
  }
}
