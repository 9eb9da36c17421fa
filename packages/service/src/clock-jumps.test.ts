import type { Clock } from '@ostler/runtime';
import { systemClock } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { ServiceRig } from './testing/service-rig.js';

const hourMs = 3_600_000;

/** Wall time that can be set; durations go on as they are. */
class SetClock implements Clock {
  offsetMs = 0;
  nowMs(): number {
    return systemClock.nowMs() + this.offsetMs;
  }
  monotonicMs(): number {
    return systemClock.monotonicMs();
  }
  setTimer(...asked: Parameters<Clock['setTimer']>): ReturnType<Clock['setTimer']> {
    return systemClock.setTimer(...asked);
  }
}

test.each([
  ['forward by six hours', 6 * hourMs],
  ['back by six hours', -6 * hourMs],
])(
  'wall time jumps %s in the middle of a delivery: nothing hangs, nothing is typed twice',
  async (_name, jumpMs) => {
    const clock = new SetClock();
    await using rig = new ServiceRig({}, clock);
    const { agent, control } = await rig.launch({
      turns: [{ forMs: 10 }],
      timing: { echoMs: 40 },
    });
    const { receipt } = rig.send(agent, 'across', 'sent across the jump');
    await rig.seen('across', ({ input }) => input?.phase === 'submitted');
    clock.offsetMs = jumpMs;
    const across = await rig.until('across', 'accepted');
    expect(across).toMatchObject({
      waitEnded: 'reached',
      receipt: { deliveryId: receipt.deliveryId },
    });
    rig.send(agent, 'after', 'sent after the jump');
    const after = await rig.until('after', 'accepted');
    expect(after).toMatchObject({
      waitEnded: 'reached',
      receipt: { input: { phase: 'accepted' } },
    });
    expect(rig.send(agent, 'across', 'sent across the jump').status).toBe('duplicate');
    expect(control.received().map(({ count }) => count)).toEqual([1, 1]);
  },
);
