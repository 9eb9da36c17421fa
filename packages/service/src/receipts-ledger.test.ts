import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Receipt, TurnResult } from '@ostler/protocol';
import { CodedError, Emitter, randomIds, silentLogger, VirtualClock } from '@ostler/runtime';
import { openStore, type ReceiptStore } from '@ostler/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReceiptsLedger } from './receipts-ledger.js';
import type { EndedTurn } from './results.js';
import type { ServiceEvents } from './service-events.js';

let dir: string;
let store: ReceiptStore;
let full: boolean;
let ledger: ReceiptsLedger;
let events: Emitter<ServiceEvents>;
const clock = new VirtualClock();
const told: Receipt[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-ledger-'));
  store = openStore({ stateDir: join(dir, 'state'), clock, ids: randomIds });
  full = false;
  events = new Emitter<ServiceEvents>();
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
        if (full && ['applyChange', 'applyTogether', 'reserve'].includes(String(name))) {
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

describe('the end of a turn', () => {
  const results: TurnResult[] = [];
  const endOf = (deliveryIds: readonly string[]): EndedTurn => ({
    agentId: 'agent',
    turnId: 'turn',
    end: {
      kind: 'turn_ended',
      turnRef: 't1',
      endRef: 'e1',
      outcome: 'completed',
      inputRefs: [],
      finalText: 'An answer.',
      atMs: 1,
    },
    deliveries: deliveryIds.map((deliveryId) => {
      return { deliveryId, change: { state: 'completed', error: null }, isMember: true };
    }),
  });
  const keysOf = ({ correlation }: TurnResult): readonly string[] =>
    correlation.inputs.map(({ idempotencyKey }) => idempotencyKey);

  beforeEach(() => {
    results.length = 0;
    events.on('turn.result', ({ agentId: _, ...result }) => void results.push(result));
  });

  test('a member whose receipt says something else for good is none', () => {
    const [a, b] = [reserve('a').receipt.deliveryId, reserve('b').receipt.deliveryId];
    ledger.change(a, { state: 'rejected', error: { code: 'not_submitted', message: 'a person' } });
    ledger.endTurn(endOf([a, b]));
    expect(results.map(keysOf)).toEqual([['b']]);
    expect(results[0]?.correlation.scope).toBe('input');
    expect(ledger.get('local', 'a')?.state).toBe('rejected');
    expect(ledger.get('local', 'b')?.state).toBe('completed');
  });

  test('what the disk had no room for is committed whole later, and told only then', () => {
    const ids = ['a', 'b'].map((key) => reserve(key).receipt.deliveryId);
    told.length = 0;
    full = true;
    ledger.endTurn(endOf(ids));
    expect([told, results]).toEqual([[], []]);
    expect(ledger.results('local')).toEqual([]);
    full = false;
    clock.advance(1_000);
    expect(told.map(({ state }) => state)).toEqual(['completed', 'completed']);
    expect(results.map(keysOf)).toEqual([['a', 'b']]);
    expect(ledger.results('local').map(({ event }) => event.payload)).toEqual(results);
  });

  test('more members than a result may have: all are completed, and no result is told', () => {
    const ids = Array.from({ length: 130 }, (_, count) => reserve(`k${count}`).receipt.deliveryId);
    ledger.endTurn(endOf(ids));
    expect(results).toEqual([]);
    for (let count = 0; count < ids.length; count += 1) {
      expect(ledger.get('local', `k${count}`)?.state).toBe('completed');
    }
  });

  test('told again, an end adds nothing', () => {
    const { deliveryId } = reserve('a').receipt;
    ledger.endTurn(endOf([deliveryId]));
    const cursor = store.cursor();
    ledger.endTurn(endOf([deliveryId]));
    ledger.endTurn(endOf([]));
    expect(store.cursor()).toEqual(cursor);
    expect(results).toHaveLength(1);
  });
});
