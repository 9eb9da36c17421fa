import { createHash } from 'node:crypto';
import type { Ids } from '@ostler/runtime';

/**
 * A UUID that says the same of the same parts, in every process: for what is found again at
 * another reading of a record.
 */
export function stableId(...parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  // Version 8: made by a rule of one's own (RFC 9562).
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, index) => hex.slice(ends[index - 1] ?? 0, end)).join('-');
}

/** Our id of each turn of one agent; inputs steered into one turn share it. */
export class Turns {
  readonly #agentId: string;
  readonly #ids: Ids;
  #unnamed: string | null = null;

  constructor(agentId: string, ids: Ids) {
    this.#agentId = agentId;
    this.#ids = ids;
  }

  /** The id of the turn `turnRef`; a turn without a name is the one that runs. */
  idOf(turnRef: string | null): string {
    if (turnRef !== null) return stableId('turn', this.#agentId, turnRef);
    this.#unnamed ??= this.#ids.uuid();
    return this.#unnamed;
  }

  /** `endRef` names a turn of which nothing but its end is known. */
  ended(turnRef: string | null, endRef: string | null): string {
    const turnId = this.idOf(turnRef ?? endRef);
    if (turnRef === null) this.#unnamed = null;
    return turnId;
  }
}
