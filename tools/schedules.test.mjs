import { afterAll, beforeAll, expect, test } from 'vitest';
import { packSimulation } from './simulation-bundle.mjs';
import { runWorker } from './simulation-worker.mjs';

const schedules = 20_000;
const workers = 2;
/** A limit for hangs: a busy machine takes longer than the minute a quiet one needs. */
const limitMs = 15 * 60_000;

let packed;
beforeAll(async () => {
  packed = await packSimulation([], 'simulate-main.ts');
});
afterAll(() => packed[Symbol.dispose]());

test(
  `${schedules} schedules break no invariant`,
  async () => {
    const parts = await Promise.all(
      Array.from({ length: workers }, async (_, index) => {
        const task = { from: 1 + index, count: schedules / workers, stride: workers };
        const answer = await runWorker(packed.file, { kind: 'explore', ...task, maxFailures: 3 });
        return answer.exploration;
      }),
    );
    const sum = (name) => parts.reduce((total, { tally }) => total + tally[name], 0);
    // Each can be looked at: npm run sim -- --seed N
    expect(parts.flatMap(({ failures }) => failures)).toEqual([]);
    expect(parts.reduce((total, part) => total + part.schedules, 0)).toBe(schedules);
    // A simulation in which hardly anything happens would prove nothing.
    expect(sum('submitted')).toBeGreaterThan(schedules);
    expect(sum('accepted') / sum('submitted')).toBeGreaterThan(0.95);
    expect(sum('evidenced')).toBeGreaterThan(schedules / 2);
    expect(sum('unknownDespiteEvidence')).toBe(0);
  },
  limitMs,
);
