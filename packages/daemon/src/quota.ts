import type { Clock } from '@ostler/runtime';

/** A token bucket: `burst` at once, `perSecond` regained. */
export class RateQuota {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #atMs: number;

  constructor(clock: Clock, burst: number, perSecond: number) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = burst;
    this.#atMs = clock.monotonicMs();
  }

  /** Takes one; false where none is left. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const regained = ((nowMs - this.#atMs) / 1_000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + regained);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
