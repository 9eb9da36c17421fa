import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { turnResultRetentionMs, turnResultsKeptCount } from '@ostler/protocol';
import { VirtualClock } from '@ostler/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from './open.js';
import type { NewEvent, ReceiptStore } from './receipt-store.js';

let dir: string;
let store: ReceiptStore;
let clock: VirtualClock;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-results-'));
  clock = new VirtualClock();
  store = open();
});
afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

const open = (): ReceiptStore => openStore({ stateDir: join(dir, 'state'), clock });
const result = (resultId: string, deviceId = 'voice'): NewEvent => ({
  kind: 'turn.result',
  agentId: 'agent',
  deviceId,
  payload: { resultId, fullText: `answer ${resultId}` },
});
const idsOf = (deviceId: string): readonly unknown[] =>
  store.results(deviceId).map(({ event }) => event.payload['resultId']);

test('a result is kept for its device alone, over a restart, with its event id', () => {
  store.applyTogether([], [result('one'), result('two', 'other')]);
  const [before] = store.results('voice');
  store.close();
  store = open();
  const [after] = store.results('voice');
  expect(after?.event).toEqual({ ...before?.event, serverInstanceId: store.serverInstanceId });
  expect(idsOf('voice')).toEqual(['one']);
  expect(idsOf('other')).toEqual(['two']);
  expect(idsOf('third')).toEqual([]);
});

test('a result is never changed: the second one takes its whole transaction with it', () => {
  store.applyTogether([], [result('one')]);
  const cursor = store.cursor();
  const again: NewEvent = { ...result('one'), payload: { resultId: 'one', fullText: 'other' } };
  const done: NewEvent = { kind: 'turn.done', payload: { turnId: 't', outcome: 'completed' } };
  expect(() => store.applyTogether([], [done, again], { endedTurnId: 't' })).toThrow(
    expect.objectContaining({ code: 'RESULT_KNOWN' }),
  );
  expect(store.cursor()).toEqual(cursor);
  expect(store.hasEnded('t')).toBe(false);
  expect(store.results('voice')).toMatchObject([
    { event: { payload: { fullText: 'answer one' } } },
  ]);
});

test('results leave after 30 minutes, and the oldest for a 513th', () => {
  store.applyTogether([], [result('old')]);
  clock.advance(turnResultRetentionMs - 1);
  expect(idsOf('voice')).toEqual(['old']);
  clock.advance(1);
  expect(idsOf('voice')).toEqual([]);
  for (let count = 0; count <= turnResultsKeptCount; count += 1) {
    store.applyTogether([], [result(`r${count}`)]);
  }
  expect(idsOf('voice')).toHaveLength(turnResultsKeptCount);
  expect(idsOf('voice')[0]).toBe('r1');
});

test('what was read off a record is known to the next process', () => {
  const consumed = {
    agentId: 'agent',
    inputRef: 'i1',
    deliveryId: 'd1',
    fingerprint: 'f',
    turnRef: 't1',
    atMs: 5,
  };
  store.applyTogether([], [], { consumed, endedTurnId: 'turn' });
  // The first to be seen as an input stays it.
  store.applyTogether([], [], { consumed: { ...consumed, deliveryId: 'd2' } });
  store.close();
  store = open();
  expect(store.consumedInputs('agent')).toEqual({ inputs: [consumed], wholeSinceMs: 0 });
  expect(store.consumedInputs('other').inputs).toEqual([]);
  expect([store.hasEnded('turn'), store.hasEnded('another')]).toEqual([true, false]);
});
