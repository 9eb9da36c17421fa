import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkCase, fuzz } from './fuzz.js';
import type { FuzzCase } from './fuzz-case.js';
import { fixturesDir } from './recorded.js';

/** A share of what `npm run fuzz` tries, the same in every run. */
const amounts = { bytes: 600_000, frames: 10_000, records: 8_000, bodies: 600 } as const;

test(`${amounts.bytes} bytes and ${amounts.frames} frames of nonsense show no fault`, {
  timeout: 5 * 60_000,
}, async () => {
  const { faults, tally } = await fuzz({ from: 1, stride: 1, amounts, maxFaults: 3 });
  // Each can be looked at: npm run fuzz -- --seed N
  expect(faults).toEqual([]);
  for (const [name, amount] of Object.entries(amounts)) {
    expect(tally[name as keyof typeof amounts]).toBeGreaterThanOrEqual(amount);
  }
});

describe('what once showed a fault', () => {
  const dir = join(fixturesDir, 'fuzz');
  const kept = readdirSync(dir).filter((name) => name.endsWith('.json'));

  test.each(kept)('%s shows none any more', async (name) => {
    const { case: test } = JSON.parse(readFileSync(join(dir, name), 'utf8')) as { case: FuzzCase };
    expect(await checkCase(test)).toBeNull();
  });
});
