import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Plan } from './plan.js';
import { runPlan } from './world.js';

interface Entry {
  readonly catches: string;
  readonly plan: Plan;
}

const corpus = JSON.parse(
  readFileSync(new URL('corpus.json', import.meta.url), 'utf8'),
) as readonly Entry[];

test.each(corpus.map(({ catches, plan }) => [catches, plan] as const))(
  'the schedule that catches "%s" breaks nothing as the house is',
  async (_catches, plan) => {
    const { violations } = await runPlan(plan);
    expect(violations).toEqual([]);
  },
);
