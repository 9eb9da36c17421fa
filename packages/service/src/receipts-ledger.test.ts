import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Receipt } from '@ostler/protocol';
import { CodedError, Emitter, randomIds, silentLogger, VirtualClock } from '@ostler/runtime';
import { openStore, type ReceiptStore } from '@ostler/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ReceiptsLedger } from './receipts-ledger.js';
import type { ServiceEvents } from './service-events.js';

let dir: string;
let store: ReceiptStore;
let full: boolean;
let ledger: ReceiptsLedger;
const clock = new VirtualClock();
const told: Receipt[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-ledger-'));
  store = openStore({ stateDir: join(dir, 'state'), clock, ids: randomIds });
  full = false;
  const events = new Emitter<ServiceEvents>();
  told.length = 0;
  events.on('receipt.updated', ({ receipt }) => void told.push(receipt));
  ledger = new ReceiptsLedger({ store: fillable(store), clock, logger: silentLogger, events });
});

afterEach(() => {
  ledger[Symbol.dispose]();
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** The real store, whose disk can be full. */
function fillable(real: ReceiptStore): ReceiptStore {
  return new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (full && (name === 'applyChange' || name === 'reserve')) {
          throw new CodedError('STORE_FULL', 'the disk is full; free some space');
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
}

const reserve = (key: string) =>
  ledger.reserve({
    deviceId: 'local',
    idempotencyKey: key,
    intentDigest: '0'.repeat(64),
    operation: 'turn.send',
    agentId: 'agent',
    input: { mode: 'direct', phase: 'waiting_for_writer' },
  });

test('a full disk: nothing is claimed, and the error says so', () => {
  full = true;
  expect(() => reserve('a')).toThrow(expect.objectContaining({ code: 'STORE_FULL' }));
  full = false;
  expect(ledger.get('local', 'a')).toBeNull();
  expect(reserve('a').status).toBe('accepted');
});

test('what a full disk could not take is saved in order once there is room, and told only then', () => {
  const { deliveryId } = reserve('a').receipt;
  told.length = 0;
  full = true;
  ledger.change(deliveryId, {
    state: 'delivered',
    input: { mode: 'direct', phase: 'submitted' },
  });
  ledger.change(deliveryId, { input: { phase: 'accepted', evidence: 'composer_left' } });
  expect(told).toEqual([]);
  expect(ledger.get('local', 'a')?.state).toBe('queued');
  clock.advance(1_000);
  expect(told).toEqual([]);
  full = false;
  clock.advance(1_000);
  expect(told.map(({ input }) => input?.phase)).toEqual(['submitted', 'accepted']);
  expect(ledger.get('local', 'a')).toMatchObject({
    state: 'delivered',
    input: { phase: 'accepted', evidence: 'composer_left' },
  });
});

test('a wait sees a change that was saved late', async () => {
  const { deliveryId } = reserve('a').receipt;
  const waiting = ledger.wait('local', 'a', 'settled', 10_000);
  full = true;
  ledger.change(deliveryId, { state: 'rejected', error: { code: 'cancelled', message: '' } });
  full = false;
  clock.advance(1_000);
  expect(await waiting).toMatchObject({ waitEnded: 'reached', receipt: { state: 'rejected' } });
});
