/** Consumed inputs whose end hasn't been seen; the oldest go first. */
const maxOpenInputs = 512;
/** Ends of other turns an input outlives before nothing is expected of it any more. */
const maxOtherEnds = 2;

interface OpenInput {
  readonly uuid: string;
  readonly atMs: number;
  otherEnds: number;
}

/** What has been consumed and waits for the end of its turn. */
export class OpenInputs {
  readonly #inputs = new Map<string, OpenInput>();

  /** Returns the input that had to go for it, if one had to. */
  add(inputRef: string, uuid: string, atMs: number): string | null {
    this.#inputs.set(inputRef, { uuid, atMs, otherEnds: 0 });
    if (this.#inputs.size <= maxOpenInputs) return null;
    const oldest = this.#inputs.keys().next().value ?? null;
    if (oldest !== null) this.#inputs.delete(oldest);
    return oldest;
  }

  has(inputRef: string): boolean {
    return this.#inputs.has(inputRef);
  }

  refs(): readonly string[] {
    return [...this.#inputs.keys()];
  }

  /** The entry that carries the input. */
  uuidOf(inputRef: string): string | null {
    return this.#inputs.get(inputRef)?.uuid ?? null;
  }

  /** The time of that entry, Unix epoch. */
  atMsOf(inputRef: string): number | null {
    return this.#inputs.get(inputRef)?.atMs ?? null;
  }

  /** Takes those of `inputRefs` out that are open, and returns them. */
  take(inputRefs: readonly string[]): readonly string[] {
    return inputRefs.filter((ref) => this.#inputs.delete(ref));
  }

  /** A turn has ended. Returns what will not be tied to any end now, and forgets it. */
  grow(): readonly string[] {
    const given: string[] = [];
    for (const [ref, input] of this.#inputs) {
      input.otherEnds += 1;
      if (input.otherEnds < maxOtherEnds) continue;
      given.push(ref);
      this.#inputs.delete(ref);
    }
    return given;
  }
}
