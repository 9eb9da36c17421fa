/** An entry of the transcript, as far as the walk needs it. */
export interface Link {
  readonly parent: string | null;
  /** What `input_consumed` called the input this entry carries. */
  readonly inputRef: string | null;
  /** A prompt that was typed into an idle composer: no turn begins before it. */
  readonly isRoot: boolean;
}

export interface Walk {
  /** In the order they were consumed. */
  readonly inputRefs: readonly string[];
  /** Null: the way back is whole. Else the first entry of it that isn't known. */
  readonly missing: string | null;
}

export interface ChainLimits {
  /** Entries remembered; the oldest go first, and a walk that needs one is not whole. */
  readonly maxEntries: number;
  /** A longer way back is not whole either. */
  readonly maxWalkSteps: number;
}

export const chainLimits: ChainLimits = { maxEntries: 50_000, maxWalkSteps: 20_000 };

/** The marker of a way back that is longer than it may be. */
const tooFar = '';

/**
 * The transcript's entries by their parents. From a turn's end the way back leads over the
 * inputs the turn took to the prompt that began it, or to the end of the turn before: what
 * stands beside that way, or was only queued, is not met.
 */
export class Chain {
  readonly #links = new Map<string, Link>();
  readonly #ends = new Map<string, string>();
  readonly #limits: ChainLimits;

  constructor(limits: ChainLimits = chainLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#links.size;
  }

  has(uuid: string): boolean {
    return this.#links.has(uuid);
  }

  get(uuid: string): Link | undefined {
    return this.#links.get(uuid);
  }

  add(uuid: string, link: Link): void {
    this.#links.set(uuid, link);
    if (this.#links.size <= this.#limits.maxEntries) return;
    const oldest = this.#links.keys().next().value;
    if (oldest === undefined) return;
    this.#links.delete(oldest);
    this.#ends.delete(oldest);
  }

  /** `uuid` belongs to the end `end`: what lies before it belongs to another turn. */
  markEnd(uuid: string, end: string): void {
    this.#ends.set(uuid, end);
  }

  unmarkEnd(uuid: string): void {
    this.#ends.delete(uuid);
  }

  walk(uuid: string): Walk {
    const own = this.#ends.get(uuid);
    const inputRefs: string[] = [];
    let at: string | null = uuid;
    for (let step = 0; at !== null; step += 1) {
      if (step >= this.#limits.maxWalkSteps) return { inputRefs, missing: tooFar };
      const link = this.#links.get(at);
      if (!link) return { inputRefs, missing: at };
      const end = this.#ends.get(at);
      if (end !== undefined && end !== own) break;
      if (link.inputRef !== null) inputRefs.unshift(link.inputRef);
      if (link.isRoot) break;
      at = link.parent;
    }
    return { inputRefs, missing: null };
  }
}
