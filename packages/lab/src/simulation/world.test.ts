import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@ostler/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { retrace } from './explore.js';
import { generate } from './generate.js';
import type { Plan } from './plan.js';
import { shrink } from './shrink.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-simulation-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const seeds = Array.from({ length: 200 }, (_, index) => index + 1);
const restarts = ({ actions }: Plan): boolean => actions.some((action) => action.do === 'restart');

test('a seed gives the same trace, line by line, whenever it is run', async () => {
  for (const seed of seeds.slice(0, 40)) {
    const { trace } = await retrace(generate(seed));
    expect((await retrace(generate(seed))).trace).toEqual(trace);
  }
});

test('the real store on its file gives the traces that the store in memory gives', async () => {
  const plans = seeds.map(generate);
  const chosen = [...plans.slice(0, 15), ...plans.slice(15).filter(restarts).slice(0, 15)];
  for (const plan of chosen) {
    const stateDir = join(dir, `${plan.seed}`);
    const inMemory = await retrace(plan);
    const onDisk = await retrace(plan, {
      openStore: (clock, ids) => openStore({ stateDir, clock, ids }),
    });
    expect(onDisk.trace).toEqual(inMemory.trace);
    expect(onDisk.violations).toEqual([]);
  }
});

test('a schedule that breaks nothing has nothing to shrink', async () => {
  expect(await shrink(generate(1))).toBeNull();
});
