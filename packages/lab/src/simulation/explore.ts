import { generate } from './generate.js';
import type { Plan } from './plan.js';
import { emptyTally, type Tally, type Violation } from './watch.js';
import { type Outcome, type RunOptions, runPlan } from './world.js';

export interface Failure {
  readonly seed: number;
  readonly violation: Violation;
}

export interface Exploration {
  readonly schedules: number;
  readonly failures: readonly Failure[];
  readonly tally: Tally;
}

export interface ExploreOptions extends RunOptions {
  readonly from: number;
  readonly count: number;
  /** Seeds apart; with two workers each takes every second one. */
  readonly stride?: number;
  /** Failures after which it stops. */
  readonly maxFailures?: number;
  readonly onSchedule?: (done: number) => void;
}

/** Runs the schedules of many seeds, one after the other. */
export async function explore(options: ExploreOptions): Promise<Exploration> {
  const { count, from, stride = 1, maxFailures = 5 } = options;
  const failures: Failure[] = [];
  const tally = emptyTally();
  let schedules = 0;
  while (schedules < count && failures.length < maxFailures) {
    const seed = from + schedules * stride;
    const outcome = await runPlan(generate(seed), options);
    schedules += 1;
    addTo(tally, outcome.tally);
    const [violation] = outcome.violations;
    if (violation) failures.push({ seed, violation });
    options.onSchedule?.(schedules);
  }
  return { schedules, failures, tally };
}

export function addTo(sum: Tally, part: Tally): void {
  for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] += part[name];
}

export { generate };

/** The same schedule again, with its trace. */
export function retrace(plan: Plan, options: RunOptions = {}): Promise<Outcome> {
  return runPlan(plan, { ...options, traced: true });
}
