/** A small generator of equal numbers for equal seeds. */
export interface Random {
  /** A whole number from 0, below `limit`. */
  below(limit: number): number;
  chance(share: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (share) => next() < share,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  };
}

/** One turn as it was: the entries that end it, the inputs it took, and its last words. */
export interface Truth {
  readonly ends: readonly string[];
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  readonly inputRefs: readonly string[];
  readonly text: string | null;
}

export interface Trace {
  readonly lines: readonly object[];
  readonly truths: readonly Truth[];
}

/** The lines out of order, some of them twice, some not at all. */
export function damage(lines: readonly object[], random: Random): readonly object[] {
  const kept = lines.filter(() => !random.chance(0.08));
  const cut = random.chance(0.3) ? kept.slice(random.below(kept.length + 1)) : kept;
  const doubled = cut.flatMap((line) => (random.chance(0.1) ? [line, line] : [line]));
  const far = random.chance(0.5) ? doubled.length : 6;
  for (let index = 0; index < doubled.length; index += 1) {
    if (!random.chance(0.5)) continue;
    const other = Math.min(doubled.length - 1, index + random.below(far));
    const [one, two] = [doubled[index], doubled[other]];
    if (one && two) [doubled[index], doubled[other]] = [two, one];
  }
  return doubled;
}
