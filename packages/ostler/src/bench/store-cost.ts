import { join } from 'node:path';
import { type Clock, randomIds, systemClock } from '@ostler/runtime';
import { openStore } from '@ostler/store';
import { type Spread, spreadOf } from './statistics.js';

export interface StoreCost {
  readonly operation: string;
  /** Whether it is on the disk when it returns, or outlives the process alone. */
  readonly durability: 'disk' | 'process';
  readonly ms: Spread | null;
}

const agentId = 'bench';
const deviceId = 'local';

/** The store's durable operations, in the order and number in which a delivery makes them. */
export function measureStore(
  dir: string,
  rounds: number,
  clock: Clock = systemClock,
): readonly StoreCost[] {
  const store = openStore({ stateDir: join(dir, 'store-state'), clock, ids: randomIds });
  const times = new Map<string, number[]>();
  const timed = <Result>(name: string, run: () => Result): Result => {
    const before = clock.monotonicMs();
    const result = run();
    const list = times.get(name) ?? [];
    list.push(clock.monotonicMs() - before);
    times.set(name, list);
    return result;
  };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const reserved = timed('reserve', () =>
        store.reserve({
          deviceId,
          idempotencyKey: `round-${round}`,
          intentDigest: `digest-${round}`,
          operation: 'turn.send',
          agentId,
          textBytes: 200,
          input: { mode: 'direct', phase: 'waiting_for_writer' },
        }),
      );
      if (reserved.kind !== 'reserved') continue;
      const { deliveryId } = reserved.receipt;
      timed('markDispatch', () =>
        store.markDispatch({
          deliveryId,
          mode: 'direct',
          pid: process.pid,
          startTime: null,
          fingerprint: 'f'.repeat(64),
          atMs: clock.nowMs(),
        }),
      );
      timed('markStep', () => store.markStep(deliveryId, 'paste_begun'));
      timed('applyChange', () =>
        store.applyChange(deliveryId, {
          state: 'delivered',
          input: { mode: 'direct', phase: 'submitted' },
        }),
      );
      timed('applyChange', () => store.applyChange(deliveryId, { state: 'completed' }));
    }
  } finally {
    store.close();
  }
  return [...times].map(([operation, ms]) => ({
    operation,
    durability: operation === 'reserve' || operation === 'markDispatch' ? 'disk' : 'process',
    ms: spreadOf(ms),
  }));
}
