import { type Exploration, explore, generate, retrace } from './explore.js';
import type { Plan } from './plan.js';
import { shrink } from './shrink.js';
import type { Tally, Violation } from './watch.js';
import { runPlan } from './world.js';

/** What a worker of `npm run sim` is asked. */
export type Task =
  | {
      readonly kind: 'explore';
      readonly from: number;
      readonly count: number;
      readonly stride: number;
      readonly maxFailures: number;
    }
  | { readonly kind: 'replay' | 'shrink'; readonly seed: number }
  | { readonly kind: 'plan'; readonly plan: Plan };

/** And what it answers. */
export type Answer =
  | { readonly exploration: Exploration }
  | { readonly lines: readonly string[]; readonly failed: boolean; readonly tally: Tally }
  | { readonly lines: readonly string[]; readonly plan: Plan | null }
  | { readonly violations: readonly Violation[] };

export async function runTask(task: Task, onSchedule: (done: number) => void): Promise<Answer> {
  switch (task.kind) {
    case 'explore':
      return { exploration: await explore({ ...task, onSchedule }) };
    case 'replay': {
      const { lines, failed, tally } = await traced(generate(task.seed));
      return { lines, failed, tally };
    }
    case 'shrink': {
      const plan = await shrink(generate(task.seed));
      return { lines: plan ? (await traced(plan)).lines : [], plan };
    }
    case 'plan': {
      const { violations } = await runPlan(task.plan);
      return { violations };
    }
  }
}

async function traced(
  plan: Plan,
): Promise<{ readonly lines: readonly string[]; readonly failed: boolean; readonly tally: Tally }> {
  const { trace, violations, tally } = await retrace(plan);
  const rules = plan.engines.map(({ rule }, index) => `[${index}] ${rule}`).join(', ');
  const head = `seed ${plan.seed}: ${plan.actions.length} planned actions, engines ${rules}`;
  const tail = violations.map(({ invariant, what }) => `VIOLATED ${invariant}: ${what}`);
  return { lines: [head, ...trace, ...tail], failed: violations.length > 0, tally };
}
