import type { EnginePlan, Plan } from './plan.js';
import { runPlan } from './world.js';

/** Runs spent on making one failure small. */
const maxRuns = 400;

const plainEngine = {
  bootMs: 0,
  readMs: [0, 0],
  echoMs: [0, 0],
  enterMs: [0, 0],
  frameMs: [4, 4],
  transportMs: [0, 0],
  recordMs: [0, 0],
  recordLossShare: 0,
  recordsInOrder: true,
  hook: false,
  boundaryMs: null,
  swallowShare: 0,
  dialogDropsDraft: false,
  ghost: null,
  ghostStyleLate: false,
  spinnerMs: 3_000,
  halfFrameShare: 0,
  popup: false,
} as const satisfies Partial<EnginePlan>;

/**
 * The shortest plan found that breaks the same invariant: actions are left out, in halves first and one by
 * one last, and engines made plain, as long as it still fails. Null where the plan fails nothing.
 */
export async function shrink(plan: Plan): Promise<Plan | null> {
  const invariant = await failureOf(plan);
  if (invariant === null) return null;
  let runs = 0;
  const stillFails = async (candidate: Plan): Promise<boolean> => {
    runs += 1;
    return runs <= maxRuns && (await failureOf(candidate)) === invariant;
  };
  let best = plan;
  for (let size = Math.ceil(best.actions.length / 2); size >= 1; ) {
    let smaller: Plan | null = null;
    for (let from = 0; from < best.actions.length && !smaller; from += size) {
      const actions = best.actions.filter((_, index) => index < from || index >= from + size);
      const candidate = { ...best, actions };
      if (await stillFails(candidate)) smaller = candidate;
    }
    if (smaller) best = smaller;
    else size = Math.floor(size / 2);
  }
  for (const index of best.engines.keys()) {
    for (const [name, value] of Object.entries(plainEngine)) {
      const engines = best.engines.map((engine, at) =>
        at === index ? { ...engine, [name]: value } : engine,
      );
      const candidate = { ...best, engines };
      if (await stillFails(candidate)) best = candidate;
    }
  }
  return best;
}

async function failureOf(plan: Plan): Promise<string | null> {
  const { violations } = await runPlan(plan);
  return violations[0]?.invariant ?? null;
}
