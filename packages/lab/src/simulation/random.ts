/** Seeded chance. The same seed and stream give the same numbers on every machine. */
export interface Chance {
  /** From 0 up to but not 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** True in `share` of all calls. */
  is(share: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

/**
 * A stream of its own for each user, so that leaving one planned action out does not change
 * what all the others meet.
 */
export function chance(seed: number, stream: string): Chance {
  let state = mix(seed);
  for (let index = 0; index < stream.length; index += 1) {
    state = mix(state ^ Math.imul(stream.charCodeAt(index) + index, 0x9e3779b1));
  }
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    return mix(state) / 0x1_0000_0000;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    is: (share) => next() < share,
    pick: (items) => items[int(0, items.length - 1)] ?? items[0],
  };
}

function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
