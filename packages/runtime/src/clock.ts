/** A running timer. Disposing it twice is the same as once. */
export interface Timer extends Disposable {
  readonly active: boolean;
}

/**
 * The only source of time in the house. Wall time is for people and records;
 * deadlines and durations use the monotonic reading, which never jumps.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Runs `callback` once, `delayMs` from now. The timer does not keep a process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

function realClock(keepsAlive: boolean): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    setTimer(delayMs, callback) {
      let active = true;
      const handle: unknown = setTimeout(() => {
        active = false;
        callback();
      }, delayMs);
      // In a browser a timer is a number, and there is no process to keep alive.
      if (!keepsAlive && isHandle(handle)) handle.unref();
      return {
        get active() {
          return active;
        },
        [Symbol.dispose]() {
          active = false;
          clearTimeout(handle as NodeJS.Timeout);
        },
      };
    },
  };
}

function isHandle(handle: unknown): handle is NodeJS.Timeout {
  return typeof handle === 'object' && handle !== null && 'unref' in handle;
}

export const systemClock: Clock = realClock(false);

/** The system's clock with timers that do keep a process alive: for programs that wait for them. */
export const keepAliveClock: Clock = realClock(true);

interface Pending {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that moves only when told to. Timers due at one instant fire in the order they were set. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = 1_800_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const entry: Pending = {
      dueMs: this.#nowMs + Math.max(0, delayMs),
      order: this.#order++,
      callback,
    };
    this.#pending.add(entry);
    const pending = this.#pending;
    return {
      get active() {
        return pending.has(entry);
      },
      [Symbol.dispose]() {
        pending.delete(entry);
      },
    };
  }

  /** The instant the next timer is due, or null when none is set. */
  nextDueMs(): number | null {
    return this.#next()?.dueMs ?? null;
  }

  /** Moves time on by `byMs`, firing every timer that falls due on the way at its own instant. */
  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs;
    for (let next = this.#next(); next && next.dueMs <= untilMs; next = this.#next()) {
      this.#pending.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
    }
    this.#nowMs = untilMs;
  }

  #next(): Pending | undefined {
    let best: Pending | undefined;
    for (const entry of this.#pending) {
      if (
        !best ||
        entry.dueMs < best.dueMs ||
        (entry.dueMs === best.dueMs && entry.order < best.order)
      ) {
        best = entry;
      }
    }
    return best;
  }
}
