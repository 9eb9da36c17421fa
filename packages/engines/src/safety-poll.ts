import type { Clock, Timer } from '@ostler/runtime';

/** How long one goes on looking after the last sign that something happens. */
const attentiveMs = 15_000;

/**
 * Looks every so often in case a file event got lost, as long as there is reason to: from
 * each `attend` on for `attentiveMs`. A session in which nothing happens is not woken.
 */
export class SafetyPoll implements Disposable {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #look: () => void;
  #untilMs = 0;
  #timer: Timer | null = null;
  #disposed = false;

  constructor(options: { clock: Clock; intervalMs: number; look: () => void }) {
    this.#clock = options.clock;
    this.#intervalMs = options.intervalMs;
    this.#look = options.look;
    this.attend();
  }

  /** Something happens, here or beside: what it leaves in the files may come without an event. */
  attend(): void {
    this.#untilMs = this.#clock.monotonicMs() + attentiveMs;
    if (this.#timer === null) this.#arm();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  #arm(): void {
    if (this.#disposed) return;
    this.#timer = this.#clock.setTimer(this.#intervalMs, () => {
      this.#timer = null;
      if (this.#disposed) return;
      this.#look();
      if (this.#timer === null && this.#clock.monotonicMs() < this.#untilMs) this.#arm();
    });
  }
}
