import type { Clock, Timer } from '@ostler/runtime';
import { type Chance } from './random.js';

interface Entry {
  readonly dueMs: number;
  readonly tie: number;
  readonly order: number;
  readonly callback: () => void;
  active: boolean;
}

const startMs = 1_800_000_000_000;

/**
 * The scheduler of a simulated world: time stands still while a callback runs, and what is
 * due at one instant runs in an order the seed chooses.
 */
export class SimClock implements Clock {
  readonly #ties: Chance;
  readonly #heap: Entry[] = [];
  #nowMs = 0;
  #order = 0;

  constructor(ties: Chance) {
    this.#ties = ties;
  }

  nowMs(): number {
    return startMs + Math.floor(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const entry: Entry = {
      dueMs: this.#nowMs + Math.max(0, delayMs),
      tie: this.#ties.next(),
      order: this.#order++,
      callback,
      active: true,
    };
    this.#push(entry);
    return {
      get active() {
        return entry.active;
      },
      [Symbol.dispose]() {
        entry.active = false;
      },
    };
  }

  /** Runs the next callback due until `untilMs`; false, with time at `untilMs`, where there is none. */
  runNext(untilMs: number): boolean {
    for (let next = this.#heap[0]; next && next.dueMs <= untilMs; next = this.#heap[0]) {
      this.#pop();
      if (!next.active) continue;
      next.active = false;
      this.#nowMs = next.dueMs;
      next.callback();
      return true;
    }
    this.#nowMs = untilMs;
    return false;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (!parent || !before(entry, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      const right = heap[childAt + 1];
      if (right && child && before(right, child)) {
        child = right;
        childAt += 1;
      }
      if (!child || !before(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}

function before(one: Entry, other: Entry): boolean {
  if (one.dueMs !== other.dueMs) return one.dueMs < other.dueMs;
  return one.tie === other.tie ? one.order < other.order : one.tie < other.tie;
}

/** The clock as one process has it: with its death every timer of its is gone. */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #woken: () => void;
  #dead = false;

  constructor(clock: Clock, woken: () => void) {
    this.#clock = clock;
    this.#woken = woken;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#clock.setTimer(delayMs, () => {
      if (this.#dead) return;
      this.#woken();
      callback();
    });
  }

  die(): void {
    this.#dead = true;
  }
}
