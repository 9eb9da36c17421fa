import type { Clock, Timer } from '@ostler/runtime';
import type { EnginePlan, RangeMs } from './plan.js';
import type { Chance } from './random.js';
import type { View } from './view.js';

interface PainterParts {
  readonly plan: EnginePlan;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly view: () => View;
  readonly isBusy: () => boolean;
}

/** Frames of an engine: late, sometimes half, none while it is stalled, and a spinner while it is busy. */
export class ModelPainter {
  readonly #parts: PainterParts;
  /** Where frames go; the terminal that has the engine now. */
  output: ((view: View) => void) | null = null;
  #stalls = 0;
  #stopped = false;
  #calm = false;
  #frameTimer: Timer | null = null;
  #spinTimer: Timer | null = null;
  #lastFrameAtMs = 0;
  #shownDialog: { readonly number: number; readonly sinceMs: number } | null = null;

  constructor(parts: PainterParts) {
    this.#parts = parts;
  }

  /** Since when the dialog in front has been on its way to the screen; null where it isn't the one shown last. */
  shownSinceMs(number: number): number | null {
    return this.#shownDialog?.number === number ? this.#shownDialog.sinceMs : null;
  }

  stall(): void {
    this.#stalls += 1;
  }

  resume(): void {
    this.#stalls = Math.max(0, this.#stalls - 1);
    this.paint();
  }

  calm(): void {
    this.#calm = true;
    this.#stalls = 0;
    this.paint();
  }

  stop(): void {
    this.#stopped = true;
  }

  paint(): void {
    if (this.#stopped || this.#stalls > 0 || this.#frameTimer?.active) return;
    const { chance, plan, view } = this.#parts;
    this.#frameTimer = this.#later(this.#range(plan.frameMs), () => {
      if (this.#stalls > 0) return;
      if (this.#calm || !chance.is(plan.halfFrameShare)) return this.#send(view());
      this.#send({ ...view(), readable: false, draft: null, hold: null });
      this.#later(chance.int(1, 60), () => this.paint());
    });
  }

  spin(): void {
    if (this.#spinTimer?.active || !this.#parts.isBusy()) return;
    this.#spinTimer = this.#later(this.#parts.plan.spinnerMs, () => {
      this.paint();
      this.spin();
    });
  }

  /** Frames overtake nothing on the way. */
  #send(view: View): void {
    const { clock, plan } = this.#parts;
    const { dialog } = view;
    const nowMs = clock.monotonicMs();
    if (dialog && dialog.number !== this.#shownDialog?.number) {
      this.#shownDialog = { number: dialog.number, sinceMs: nowMs };
    }
    this.#lastFrameAtMs = Math.max(
      nowMs + this.#range(plan.transportMs),
      this.#lastFrameAtMs + 0.001,
    );
    this.#later(this.#lastFrameAtMs - nowMs, () => this.output?.(view));
  }

  #range([min, max]: RangeMs): number {
    return this.#calm ? min : this.#parts.chance.int(min, max);
  }

  #later(delayMs: number, callback: () => void): Timer {
    return this.#parts.clock.setTimer(delayMs, () => {
      if (!this.#stopped) callback();
    });
  }
}
