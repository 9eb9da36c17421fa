import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceiptChange } from '@ostler/protocol';
import { type Ids, isCoded, sequentialIds, VirtualClock } from '@ostler/runtime';
import { openStore, type ReceiptStore } from '@ostler/store';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MemoryDisk } from './memory-disk.js';
import { MemoryReceiptStore } from './memory-store.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-memory-store-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const change = fc.record(
  {
    state: fc.constantFrom('delivered', 'started', 'unknown', 'completed', 'rejected'),
    turnId: fc.constantFrom('t1', 't2'),
    input: fc.record(
      {
        mode: fc.constantFrom('direct', 'steering'),
        phase: fc.constantFrom('waiting_for_user', 'submitted', 'unconfirmed', 'accepted'),
        evidence: fc.constantFrom('composer_left', 'record'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const key = fc.constantFrom('a', 'b', 'c');
const call = fc.oneof(
  fc.record({ do: fc.constant('reserve' as const), key, intent: fc.constantFrom('x', 'y') }),
  fc.record({ do: fc.constant('mark' as const), key }),
  fc.record({ do: fc.constant('step' as const), key }),
  fc.record({ do: fc.constant('change' as const), key, change }),
  fc.record({
    do: fc.constant('together' as const),
    keys: fc.array(key, { maxLength: 3 }),
    change,
    result: fc.constantFrom(null, 'r1', 'r2'),
    inputRef: fc.constantFrom(null, 'i1', 'i2'),
  }),
  fc.record({ do: fc.constant('pass' as const), forMs: fc.constantFrom(5, 20 * 60_000) }),
  fc.constant({ do: 'reopen' as const }),
);

test('call by call, the store in memory answers as the real one does', () => {
  let run = 0;
  fc.assert(
    fc.property(fc.array(call, { maxLength: 25 }), (calls) => {
      run += 1;
      const clock = new VirtualClock();
      const minted: string[] = [];
      const source = sequentialIds();
      const ids: Ids = {
        uuid() {
          const id = source.uuid();
          minted.push(id);
          return id;
        },
      };
      // The store in memory takes the ids the real one has taken for the same call.
      const sameIds: Ids = { uuid: () => minted.shift() ?? 'none was minted' };
      const stateDir = join(dir, `${run}`);
      const openReal = (): ReceiptStore => openStore({ stateDir, clock, ids });
      let real = openReal();
      const disk = new MemoryDisk({ uuid: () => real.machineId });
      const openMemory = (): ReceiptStore => {
        minted.splice(0, minted.length, real.serverInstanceId);
        return new MemoryReceiptStore({ disk, clock, ids: sameIds });
      };
      let memory = openMemory();
      const both = (ask: (store: ReceiptStore) => unknown): void => {
        minted.length = 0;
        const answer = ask(real);
        expect(ask(memory)).toEqual(answer);
      };
      const deliveryOf = (name: string): string =>
        real.getReceipt('device', name)?.deliveryId ?? 'nobody';
      for (const step of calls) {
        switch (step.do) {
          case 'reserve':
            both((store) =>
              store.reserve({
                deviceId: 'device',
                idempotencyKey: step.key,
                intentDigest: step.intent,
                operation: 'turn.send',
                agentId: 'agent',
                input: { mode: 'direct', phase: 'waiting_for_writer' },
              }),
            );
            break;
          case 'mark':
            both((store) =>
              store.markDispatch({
                deliveryId: deliveryOf(step.key),
                mode: 'steering',
                pid: 1,
                startTime: '2',
                fingerprint: 'f',
                atMs: clock.nowMs(),
                beginning: 'paste_begun',
              }),
            );
            break;
          case 'step':
            both((store) => store.markStep(deliveryOf(step.key), 'enter_begun'));
            break;
          case 'change':
            both((store) => store.applyChange(deliveryOf(step.key), step.change as ReceiptChange));
            break;
          case 'together':
            both((store) => together(store, step, deliveryOf));
            break;
          case 'pass':
            clock.advance(step.forMs);
            break;
          case 'reopen':
            real.close();
            memory.close();
            real = openReal();
            memory = openMemory();
            both((store) => store.reconcileAfterRestart());
            break;
        }
        both((store) => store.getReceipt('device', 'a'));
        both((store) => store.getByDelivery(deliveryOf('b')));
        both((store) => store.listUnresolved());
        both((store) => store.results('device'));
        both((store) => store.consumedInputs('agent'));
        both((store) => [store.hasResult('r1'), store.hasEnded('turn of r1')]);
        both((store) => store.cursor());
        both((store) =>
          store.replay({ serverInstanceId: store.serverInstanceId, eventId: 0 }, 'device'),
        );
      }
      real.close();
    }),
    { numRuns: 60 },
  );
});

/** A turn's end, with a result or without. */
function together(
  store: ReceiptStore,
  step: {
    readonly keys: readonly string[];
    readonly change: object;
    readonly result: string | null;
    readonly inputRef: string | null;
  },
  deliveryOf: (key: string) => string,
): unknown {
  const { change, inputRef, keys, result } = step;
  const changes = keys.map((name) => ({
    deliveryId: deliveryOf(name),
    change: change as ReceiptChange,
  }));
  const payload = { resultId: result, fullText: 'an answer' };
  const event = { kind: 'turn.result', agentId: 'agent', deviceId: 'device', payload } as const;
  const consumed = {
    agentId: 'agent',
    inputRef: inputRef ?? '',
    deliveryId: deliveryOf(keys[0] ?? 'a'),
    fingerprint: 'f',
    turnRef: null,
    atMs: 1,
  };
  try {
    return store.applyTogether(changes, result === null ? [] : [event], {
      ...(inputRef === null ? {} : { consumed }),
      ...(result === null ? {} : { endedTurnId: `turn of ${result}` }),
    });
  } catch (failure) {
    if (isCoded(failure)) return failure.code;
    throw failure;
  }
}
