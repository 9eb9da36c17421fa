import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readText, root } from './root.mjs';
import { sabotages } from './sabotages.mjs';
import { packSimulation } from './simulation-bundle.mjs';

/** Seeds tried where the kept schedule no longer catches its sabotage. */
const maxSeeds = 3_000;
const limitMs = 5 * 60_000;

const corpus = JSON.parse(
  readText(join(root, 'packages', 'lab', 'src', 'simulation', 'corpus.json')) ?? '[]',
);
let packed;
beforeAll(async () => {
  packed = await packSimulation(sabotages);
});
afterAll(() => packed[Symbol.dispose]());

describe('the simulation catches whoever would', () => {
  test.each(sabotages.map((sabotage) => [sabotage.name, sabotage]))(
    '%s',
    async (name, { breaks }) => {
      const { runTask } = await packed.load(name);
      const kept = corpus.find(({ catches }) => catches === name);
      if (kept) {
        const { violations } = await runTask({ kind: 'plan', plan: kept.plan });
        if (breaks.includes(violations[0]?.invariant)) return;
      }
      const task = { kind: 'explore', from: 1, count: maxSeeds, stride: 1, maxFailures: 1 };
      const { exploration } = await runTask(task, () => undefined);
      const caught = exploration.failures[0]?.violation.invariant;
      expect(breaks, 'not caught: run node tools/sabotage-corpus.mjs').toContain(caught);
    },
    limitMs,
  );
});

test(
  'a failing seed is shrunk to a schedule that fails the same way with less in it',
  async () => {
    const { runTask } = await packed.load('skip the second look');
    const task = { kind: 'explore', from: 1, count: maxSeeds, stride: 1, maxFailures: 1 };
    const { exploration } = await runTask(task, () => undefined);
    const { seed, violation } = exploration.failures[0];
    const { lines, plan } = await runTask({ kind: 'shrink', seed });
    expect(plan.actions.length).toBeLessThan(4);
    expect(lines.at(-1)).toContain(`VIOLATED ${violation.invariant}`);
  },
  limitMs,
);
