import { expect, test } from 'vitest';
import { explore } from '../explore.js';

/** A limit for hangs: a busy machine takes longer than the minute a quiet one needs. */
const limitMs = 15 * 60_000;

/** One test over a range of seeds; its failures name the seeds for `npm run sim -- --seed N`. */
export function runSchedules({
  from,
  count,
}: {
  readonly from: number;
  readonly count: number;
}): void {
  test(
    `${count} schedules from seed ${from} break no invariant`,
    async () => {
      const { failures, schedules, tally } = await explore({ from, count });
      expect(failures).toEqual([]);
      expect(schedules).toBe(count);
      // A simulation in which hardly anything happens would prove nothing.
      expect(tally.submitted).toBeGreaterThan(count);
      expect(tally.accepted / tally.submitted).toBeGreaterThan(0.95);
      expect(tally.unknownDespiteEvidence).toBe(0);
    },
    limitMs,
  );
}
