import type { Ids } from '@ostler/runtime';

/** Turns remembered by the engine's name for them. */
const maxTurns = 256;

/** Our id of each turn the engine names; inputs steered into one turn share it. */
export class Turns {
  readonly #ids: Ids;
  readonly #byRef = new Map<string, string>();
  #unnamed: string | null = null;

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** The id of the turn `turnRef`; a turn without a name is the one that runs. */
  idOf(turnRef: string | null): string {
    if (turnRef === null) {
      this.#unnamed ??= this.#ids.uuid();
      return this.#unnamed;
    }
    const known = this.#byRef.get(turnRef);
    if (known) return known;
    const turnId = this.#ids.uuid();
    this.#byRef.set(turnRef, turnId);
    const [oldest] = this.#byRef.keys();
    if (this.#byRef.size > maxTurns && oldest !== undefined) this.#byRef.delete(oldest);
    return turnId;
  }

  ended(turnRef: string | null): string {
    const turnId = this.idOf(turnRef);
    if (turnRef === null) this.#unnamed = null;
    return turnId;
  }
}
