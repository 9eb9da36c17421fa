import type { Clock } from '@ostler/runtime';
import type { Action, PlanStep, Trigger } from './script.js';

/** Watches for the script's triggers and carries out what is planned for each. */
export class Plan {
  readonly #steps: readonly PlanStep[];
  readonly #clock: Clock;
  readonly #act: (action: Action) => void;
  readonly #counts = new Map<Trigger['on'], number>();

  constructor(steps: readonly PlanStep[], clock: Clock, act: (action: Action) => void) {
    this.#steps = steps;
    this.#clock = clock;
    this.#act = act;
  }

  /** Sets the timers of the `after` steps. */
  start(): void {
    for (const step of this.#steps) {
      if (step.when.on === 'after') {
        this.#clock.setTimer(step.when.ms + (step.afterMs ?? 0), () => this.#carryOut(step));
      }
    }
  }

  /** `text` is the prompt's text or the release's name. Steps without a delay run before this returns. */
  happened(on: Exclude<Trigger['on'], 'after'>, text = ''): void {
    const count = (this.#counts.get(on) ?? 0) + 1;
    this.#counts.set(on, count);
    for (const step of this.#steps) {
      if (!fits(step.when, on, count, text)) continue;
      if (step.afterMs === undefined) this.#carryOut(step);
      else this.#clock.setTimer(step.afterMs, () => this.#carryOut(step));
    }
  }

  #carryOut(step: PlanStep): void {
    for (const action of step.actions) this.#act(action);
  }
}

function fits(when: Trigger, on: Trigger['on'], count: number, text: string): boolean {
  if (when.on !== on) return false;
  if (when.on === 'release') return when.name === text;
  if (when.on === 'prompt' && when.text !== undefined && !text.includes(when.text)) return false;
  return !('nth' in when) || when.nth === undefined || when.nth === count;
}
