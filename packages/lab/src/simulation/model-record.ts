import type { EngineEvent } from '@ostler/engines';
import type { Clock } from '@ostler/runtime';
import type { EnginePlan } from './plan.js';
import type { Chance } from './random.js';

/** The engine's record and hooks, as far as whoever follows them gets to see them. */
export class ModelRecord {
  readonly #plan: EnginePlan;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #written: EngineEvent[] = [];
  #lastReadAtMs = 0;
  #stopped = false;
  #calm = false;
  #follower: ((event: EngineEvent) => void) | null = null;

  constructor(plan: EnginePlan, clock: Clock, chance: Chance) {
    this.#plan = plan;
    this.#clock = clock;
    this.#chance = chance;
  }

  /** Tells everything so far, each in its own time, and what comes. */
  follow(tell: (event: EngineEvent) => void, clock: Clock): void {
    const [min, max] = this.#plan.recordMs;
    let delayMs = 1;
    for (const event of this.#written) {
      const readMs = this.#chance.int(min, max);
      delayMs = this.#plan.recordsInOrder ? Math.max(delayMs, readMs) : readMs;
      clock.setTimer(delayMs, () => tell(event));
    }
    this.#follower = tell;
  }

  unfollow(tell: (event: EngineEvent) => void): void {
    if (this.#follower === tell) this.#follower = null;
  }

  stop(): void {
    this.#stopped = true;
  }

  calm(): void {
    this.#calm = true;
  }

  hooked(text: string): void {
    if (!this.#plan.hook) return;
    const atMs = this.#clock.nowMs();
    this.#put({ kind: 'input_accepted', text, evidence: 'hook', inputRef: null, atMs });
  }

  queued(text: string): void {
    const atMs = this.#clock.nowMs();
    this.#put({ kind: 'input_accepted', text, evidence: 'record', inputRef: null, atMs });
  }

  consumed(text: string, inputRef: string, turnRef: string): void {
    const atMs = this.#clock.nowMs();
    this.#put({ kind: 'input_consumed', text, evidence: 'record', inputRef, turnRef, atMs });
  }

  withdrawn(): void {
    this.#put({ kind: 'input_withdrawn', text: null, atMs: this.#clock.nowMs() });
  }

  turnStarted(turnRef: string): void {
    this.#put({ kind: 'turn_started', turnRef, atMs: this.#clock.nowMs() });
  }

  turnEnded(
    turnRef: string,
    outcome: 'completed' | 'failed' | 'cancelled',
    inputRefs: readonly string[],
    finalText: string,
  ): void {
    const atMs = this.#clock.nowMs();
    this.#put({
      kind: 'turn_ended',
      turnRef,
      outcome,
      inputRefs,
      endRef: turnRef,
      finalText,
      atMs,
    });
  }

  #put(event: EngineEvent): void {
    // Of a text given back only this entry tells; without it nobody could know of equal ones.
    const mayLose = !this.#calm && event.kind !== 'input_withdrawn';
    const lost = this.#chance.is(this.#plan.recordLossShare) && mayLose;
    const [min, max] = this.#plan.recordMs;
    const nowMs = this.#clock.monotonicMs();
    let dueMs = nowMs + (this.#calm ? min : this.#chance.int(min, max));
    if (this.#plan.recordsInOrder) dueMs = Math.max(dueMs, this.#lastReadAtMs + 0.001);
    if (lost) return;
    this.#lastReadAtMs = Math.max(this.#lastReadAtMs, dueMs);
    this.#clock.setTimer(dueMs - nowMs, () => {
      if (this.#stopped) return;
      this.#written.push(event);
      this.#follower?.(event);
    });
  }
}
