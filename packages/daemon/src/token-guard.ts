import type { Clock } from '@ostler/runtime';
import type { DaemonLimits } from './limits.js';

interface Failures {
  count: number;
  readonly sinceMs: number;
}

/** Slows down whoever guesses tokens: an address with too many wrong ones waits out the window. */
export class TokenGuard {
  readonly #clock: Clock;
  readonly #limits: DaemonLimits;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock, limits: DaemonLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  isShutOut(address: string): boolean {
    return (this.#current(address)?.count ?? 0) >= this.#limits.maxWrongTokens;
  }

  failed(address: string): void {
    const failures = this.#current(address) ?? { count: 0, sinceMs: this.#clock.monotonicMs() };
    failures.count += 1;
    this.#failures.delete(address);
    this.#failures.set(address, failures);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > this.#limits.maxWatchedAddresses && oldest !== undefined) {
      this.#failures.delete(oldest);
    }
  }

  #current(address: string): Failures | undefined {
    const failures = this.#failures.get(address);
    if (!failures) return undefined;
    const { wrongTokenWindowMs } = this.#limits;
    if (this.#clock.monotonicMs() - failures.sinceMs < wrongTokenWindowMs) return failures;
    this.#failures.delete(address);
    return undefined;
  }
}
