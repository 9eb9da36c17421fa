import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Plan } from './plan.js';
import { runPlan } from './world.js';

interface Entry {
  readonly catches: string;
  readonly plan: Plan;
}

/** A schedule that once broke an invariant of the house itself. */
interface PastFailure {
  readonly fault: string;
  readonly plan: Plan;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const corpus = read('corpus.json') as readonly Entry[];
const pastFailures = read('past-failures.json') as readonly PastFailure[];

test.each(corpus.map(({ catches, plan }) => [catches, plan] as const))(
  'the schedule that catches "%s" breaks nothing as the house is',
  async (_catches, plan) => {
    const { violations } = await runPlan(plan);
    expect(violations).toEqual([]);
  },
);

test.each(pastFailures.map(({ fault, plan }) => [fault, plan] as const))(
  'mended: %s',
  async (_fault, plan) => {
    const { violations } = await runPlan(plan);
    expect(violations).toEqual([]);
  },
);
