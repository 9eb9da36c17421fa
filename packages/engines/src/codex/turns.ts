/** Turns remembered, and inputs of one; the oldest turns go first. */
const maxTurns = 256;
const maxInputs = 512;

export interface CodexTurn {
  /** The engine's id, null in records that have none. */
  readonly turnId: string | null;
  readonly inputRefs: string[];
  /** One input at least has no turn's id of its own: it only stands between start and end. */
  byOrder: boolean;
  failed: boolean;
  /** More inputs than are remembered. */
  overflown: boolean;
  lastWords: string | null;
}

/** The turns of one rollout file by their ids, and the one that runs. */
export class CodexTurns {
  readonly #turns = new Map<string, CodexTurn>();
  readonly #ended = new Set<string>();
  #current: CodexTurn | null = null;

  get current(): CodexTurn | null {
    return this.#current;
  }

  /** Returns the inputs of turns that are over without an end: one that ran, or one too long ago. */
  start(turnId: string | null): readonly string[] {
    const before = this.#current;
    this.#current = turnId === null ? this.#open(null) : this.of(turnId);
    const given = before && before !== this.#current ? this.#drop(before) : [];
    return [...given, ...this.#trim()];
  }

  /** The turn of this id, begun or not. */
  of(turnId: string): CodexTurn {
    return this.#turns.get(turnId) ?? this.#open(turnId);
  }

  hasEnded(turnId: string): boolean {
    return this.#ended.has(turnId);
  }

  /** False where the turn has more inputs than are remembered. */
  take(turn: CodexTurn, inputRef: string): boolean {
    if (turn.inputRefs.length >= maxInputs) turn.overflown = true;
    else turn.inputRefs.push(inputRef);
    return !turn.overflown;
  }

  /** The turn that ends, taken out; of a turn without an id the one that runs. */
  end(turnId: string | null): CodexTurn | null {
    const turn = turnId === null ? this.#current : (this.#turns.get(turnId) ?? null);
    if (turnId !== null) {
      this.#ended.add(turnId);
      const oldest = this.#ended.values().next().value;
      if (this.#ended.size > maxTurns && oldest !== undefined) this.#ended.delete(oldest);
    }
    if (turn) this.#drop(turn);
    return turn;
  }

  #open(turnId: string | null): CodexTurn {
    const turn: CodexTurn = {
      turnId,
      inputRefs: [],
      byOrder: false,
      failed: false,
      overflown: false,
      lastWords: null,
    };
    if (turnId !== null) this.#turns.set(turnId, turn);
    return turn;
  }

  #drop(turn: CodexTurn): readonly string[] {
    if (turn.turnId !== null) this.#turns.delete(turn.turnId);
    if (this.#current === turn) this.#current = null;
    return turn.inputRefs;
  }

  #trim(): readonly string[] {
    const given: string[] = [];
    for (const turn of this.#turns.values()) {
      if (this.#turns.size <= maxTurns) break;
      if (turn !== this.#current) given.push(...this.#drop(turn));
    }
    return given;
  }
}
