import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import type { Clock, Timer } from '@ostler/runtime';

/** A clock that counts the timers it fires. */
export class CountingClock implements Clock {
  readonly #clock: Clock;
  timersFired = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#clock.setTimer(delayMs, () => {
      this.timersFired += 1;
      callback();
    });
  }
}

/**
 * How often the threads of this process went to sleep of their own accord, which is how often
 * something woke them; null where the system has no /proc. `main` is the event loop's thread.
 */
export function readWakeups(): { readonly main: number; readonly all: number } | null {
  if (process.platform !== 'linux') return null;
  let all = 0;
  let main = 0;
  for (const task of readdirSync('/proc/self/task')) {
    const status = readFileSync(`/proc/self/task/${task}/status`, 'utf8');
    const switches = Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1] ?? 0);
    all += switches;
    if (task === String(process.pid)) main = switches;
  }
  return { main, all };
}

/** Bytes this process keeps alive, after a collection where collections can be asked for. */
export function heldBytes(): { readonly heap: number; readonly rss: number } {
  for (let round = 0; round < collectionRounds; round += 1) globalThis.gc?.();
  const { arrayBuffers, external, heapUsed, rss } = process.memoryUsage();
  // `external` holds the array buffers as well.
  return { heap: heapUsed + Math.max(external, arrayBuffers), rss };
}

const collectionRounds = 4;

export interface Machine {
  readonly cores: number;
  readonly node: string;
  /** Runnable processes, averaged over a minute, when the run began. */
  readonly load: number;
}

export function describeMachine(): Machine {
  const [load = 0] = loadavg();
  return { cores: availableParallelism(), node: process.versions.node, load: round(load) };
}

const round = (value: number): number => Math.round(value * 10) / 10;
