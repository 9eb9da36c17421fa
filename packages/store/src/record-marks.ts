import type { Statement } from 'better-sqlite3';
import type { StoreDatabase } from './database.js';
import type { ConsumedInput, ConsumedInputs } from './receipt-store.js';

/** Of all agents together; the oldest go first. */
const maxConsumedCount = 16_384;
const maxEndedTurnsCount = 8_192;
/** Rows over the limit that may gather before they are removed together. */
const pruneSlackCount = 64;

interface ConsumedRow {
  readonly input_ref: string;
  readonly delivery_id: string;
  readonly fingerprint: string;
  readonly turn_ref: string | null;
  readonly at_ms: number;
}

/**
 * What has been read off the engines' records, so that another reading of them finds the same.
 * Writing belongs inside a transaction of the caller's.
 */
export class RecordMarks {
  readonly #consume: Statement<[string, string, string, string, string | null, number]>;
  readonly #consumedBy: Statement<[string], ConsumedRow>;
  readonly #countConsumed: Statement<[], { count: number; oldest_ms: number | null }>;
  readonly #pruneConsumed: Statement<[number]>;
  readonly #end: Statement<[string]>;
  readonly #hasEnded: Statement<[string], { turn_id: string }>;
  readonly #pruneEnded: Statement<[number]>;
  #sincePrune = 0;

  constructor({ connection }: StoreDatabase) {
    this.#consume = connection.prepare(`
      INSERT OR IGNORE INTO consumed_inputs
        (agent_id, input_ref, delivery_id, fingerprint, turn_ref, at_ms)
      VALUES (?, ?, ?, ?, ?, ?)`);
    this.#consumedBy = connection.prepare(
      'SELECT * FROM consumed_inputs WHERE agent_id = ? ORDER BY ordinal',
    );
    this.#countConsumed = connection.prepare(
      'SELECT count(*) AS count, min(at_ms) AS oldest_ms FROM consumed_inputs',
    );
    this.#pruneConsumed = connection.prepare(`
      DELETE FROM consumed_inputs WHERE ordinal <=
        (SELECT ordinal FROM consumed_inputs ORDER BY ordinal DESC LIMIT 1 OFFSET ?)`);
    this.#end = connection.prepare('INSERT OR IGNORE INTO ended_turns (turn_id) VALUES (?)');
    this.#hasEnded = connection.prepare('SELECT turn_id FROM ended_turns WHERE turn_id = ?');
    this.#pruneEnded = connection.prepare(`
      DELETE FROM ended_turns WHERE ordinal <=
        (SELECT ordinal FROM ended_turns ORDER BY ordinal DESC LIMIT 1 OFFSET ?)`);
  }

  consume(input: ConsumedInput): void {
    const { agentId, atMs, deliveryId, fingerprint, inputRef, turnRef } = input;
    this.#consume.run(agentId, inputRef, deliveryId, fingerprint, turnRef, atMs);
    this.#prune();
  }

  end(turnId: string): void {
    this.#end.run(turnId);
    this.#prune();
  }

  hasEnded(turnId: string): boolean {
    return this.#hasEnded.get(turnId) !== undefined;
  }

  consumedBy(agentId: string): ConsumedInputs {
    const all = this.#countConsumed.get();
    const isFull = (all?.count ?? 0) >= maxConsumedCount;
    return {
      inputs: this.#consumedBy.all(agentId).map((row) => ({
        agentId,
        inputRef: row.input_ref,
        deliveryId: row.delivery_id,
        fingerprint: row.fingerprint,
        turnRef: row.turn_ref,
        atMs: row.at_ms,
      })),
      wholeSinceMs: isFull ? (all?.oldest_ms ?? 0) : 0,
    };
  }

  #prune(): void {
    this.#sincePrune += 1;
    if (this.#sincePrune < pruneSlackCount) return;
    this.#sincePrune = 0;
    this.#pruneConsumed.run(maxConsumedCount);
    this.#pruneEnded.run(maxEndedTurnsCount);
  }
}
