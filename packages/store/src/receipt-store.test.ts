import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceiptChange } from '@ostler/protocol';
import { type Ids, sequentialIds, VirtualClock } from '@ostler/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoreLimits } from './limits.js';
import { openStore } from './open.js';
import type { DispatchMark, ReceiptStore, Reservation } from './receipt-store.js';

const minuteMs = 60_000;

let dir: string;
let clock: VirtualClock;
let ids: Ids;
let store: ReceiptStore;

function open(limits: Partial<StoreLimits> = {}): ReceiptStore {
  store = openStore({ stateDir: dir, clock, ids, limits });
  return store;
}

function reopen(limits: Partial<StoreLimits> = {}): ReceiptStore {
  store.close();
  return open(limits);
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-store-'));
  clock = new VirtualClock();
  ids = sequentialIds();
  open();
});

afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true });
});

function reservation(key: string, other: Partial<Reservation> = {}): Reservation {
  return {
    deviceId: 'local',
    idempotencyKey: key,
    intentDigest: 'digest',
    operation: 'turn.send',
    agentId: 'agent',
    textBytes: 5,
    input: { mode: 'direct', phase: 'waiting_for_turn' },
    ...other,
  };
}

function reserve(key: string, other: Partial<Reservation> = {}): string {
  const result = store.reserve(reservation(key, other));
  if (result.kind !== 'reserved') throw new Error(result.kind);
  return result.receipt.deliveryId;
}

function mark(deliveryId: string, other: Partial<DispatchMark> = {}): DispatchMark {
  return {
    deliveryId,
    mode: 'direct',
    pid: 7,
    startTime: '99',
    fingerprint: 'print',
    atMs: clock.nowMs(),
    ...other,
  };
}

function settle(key: string, change: ReceiptChange = { state: 'completed' }): string {
  const deliveryId = reserve(key);
  store.applyChange(deliveryId, change);
  return deliveryId;
}

describe('reserve', () => {
  test('makes a queued receipt and the event that announces it', () => {
    const result = store.reserve(reservation('k'));
    if (result.kind !== 'reserved') throw new Error(result.kind);
    expect(result.receipt).toMatchObject({
      idempotencyKey: 'k',
      state: 'queued',
      machineId: store.machineId,
      serverInstanceId: store.serverInstanceId,
      turnId: null,
      error: null,
      at: clock.nowMs(),
      input: { mode: 'direct', phase: 'waiting_for_turn' },
    });
    expect(result.event).toEqual({
      deviceId: 'local',
      event: {
        type: 'event',
        eventId: 1,
        serverInstanceId: store.serverInstanceId,
        machineId: store.machineId,
        agentId: 'agent',
        kind: 'receipt.updated',
        payload: { receipt: result.receipt },
      },
    });
    expect(store.getReceipt('local', 'k')).toEqual(result.receipt);
  });

  test('the same key: duplicate for the same intent, conflict for another', () => {
    const deliveryId = reserve('k');
    const again = store.reserve(reservation('k'));
    expect(again).toMatchObject({ kind: 'duplicate', receipt: { deliveryId } });
    expect(store.lookup(reservation('k'))).toEqual(again);
    expect(store.reserve(reservation('k', { intentDigest: 'other' }))).toEqual({
      kind: 'conflict',
    });
    expect(store.cursor().eventId).toBe(1);
  });

  test('devices have keys of their own', () => {
    reserve('k');
    reserve('k', { deviceId: 'phone', intentDigest: 'other' });
    expect(store.getReceipt('tablet', 'k')).toBeNull();
  });

  test('a duplicate in the next process is answered from the disk', () => {
    const deliveryId = reserve('k');
    reopen();
    expect(store.reserve(reservation('k'))).toMatchObject({
      kind: 'duplicate',
      receipt: { deliveryId },
    });
  });
});

describe('capacity', () => {
  test('settled receipts leave 30 minutes after their last change', () => {
    settle('done');
    clock.advance(30 * minuteMs - 1);
    expect(store.getReceipt('local', 'done')).not.toBeNull();
    expect(store.reserve(reservation('done')).kind).toBe('duplicate');
    clock.advance(1);
    expect(store.getReceipt('local', 'done')).toBeNull();
    expect(store.reserve(reservation('done')).kind).toBe('reserved');
  });

  test('unresolved ones never leave, unknown ones included', () => {
    reopen({ receiptsPerDeviceCount: 2 });
    reserve('queued');
    settle('doubt', { state: 'unknown' });
    clock.advance(24 * 60 * minuteMs);
    expect(store.reserve(reservation('third'))).toEqual({ kind: 'backpressure' });
    expect(store.getReceipt('local', 'queued')).not.toBeNull();
    expect(reserve('third', { deviceId: 'phone' })).toBeTruthy();
  });

  test('when full the oldest settled one leaves early and still guards its key', () => {
    reopen({ receiptsPerDeviceCount: 2 });
    const first = settle('first');
    clock.advance(1);
    settle('second');
    reserve('third');
    expect(store.getReceipt('local', 'first')).toBeNull();
    expect(store.getReceipt('local', 'second')).not.toBeNull();
    reopen({ receiptsPerDeviceCount: 2 });
    expect(store.reserve(reservation('first'))).toMatchObject({
      kind: 'duplicate',
      receipt: { deliveryId: first, state: 'completed' },
    });
    clock.advance(30 * minuteMs);
    expect(store.reserve(reservation('first')).kind).toBe('reserved');
  });

  test('without room for the guards nobody leaves', () => {
    reopen({ receiptsPerDeviceCount: 1, earlyLeaversPerDeviceCount: 1 });
    settle('first');
    settle('second');
    expect(store.reserve(reservation('third'))).toEqual({ kind: 'backpressure' });
    clock.advance(30 * minuteMs);
    expect(store.reserve(reservation('third')).kind).toBe('reserved');
  });
});

describe('dispatch', () => {
  test('a delivery is marked once in its life', () => {
    const deliveryId = reserve('k');
    expect(store.markDispatch(mark(deliveryId))).toMatchObject({ kind: 'marked', event: null });
    const second = { kind: 'refused', reason: 'already_dispatched' };
    expect(store.markDispatch(mark(deliveryId))).toEqual(second);
    reopen();
    expect(store.markDispatch(mark(deliveryId))).toEqual(second);
  });

  test('only what is queued', () => {
    const cancelled = settle('k', { state: 'rejected', error: { code: 'cancelled', message: '' } });
    expect(store.markDispatch(mark(cancelled))).toMatchObject({ reason: 'not_queued' });
    expect(store.markDispatch(mark('nothing'))).toMatchObject({ reason: 'not_found' });
  });

  test('the mark freezes the mode and announces it where it changed', () => {
    const deliveryId = reserve('k');
    const marked = store.markDispatch(mark(deliveryId, { mode: 'steering' }));
    expect(marked).toMatchObject({
      receipt: { state: 'queued', input: { mode: 'steering', phase: 'waiting_for_turn' } },
      event: { event: { eventId: 2, payload: { receipt: { input: { mode: 'steering' } } } } },
    });
    expect(store.applyChange(deliveryId, { input: { mode: 'direct' } })).toMatchObject({
      kind: 'refused',
      reason: 'mode',
    });
    expect(store.applyChange(deliveryId, { input: { mode: 'steering' } }).kind).toBe('unchanged');
  });

  test('the record tells process, fingerprint and steps', () => {
    const deliveryId = reserve('k');
    expect(store.markStep(deliveryId, 'paste_begun')).toBe(false);
    store.markDispatch(mark(deliveryId));
    expect(store.markStep(deliveryId, 'paste_begun')).toBe(true);
    clock.advance(5);
    store.markStep(deliveryId, 'paste_written');
    const atMs = clock.nowMs();
    expect(store.getByDelivery(deliveryId)).toMatchObject({
      deviceId: 'local',
      textBytes: 5,
      dispatch: { mode: 'direct', pid: 7, startTime: '99', fingerprint: 'print', atMs: atMs - 5 },
      steps: [
        { step: 'paste_begun', atMs: atMs - 5 },
        { step: 'paste_written', atMs },
      ],
    });
  });
});

describe('changes', () => {
  test('each has its event, a refused or repeated one has none', () => {
    const deliveryId = reserve('k');
    const started: ReceiptChange = { state: 'started', turnId: 't' };
    expect(store.applyChange(deliveryId, started)).toMatchObject({
      kind: 'applied',
      receipt: { state: 'started', turnId: 't' },
      event: { event: { eventId: 2 } },
    });
    expect(store.applyChange(deliveryId, started).kind).toBe('unchanged');
    expect(store.applyChange(deliveryId, { state: 'rejected' })).toMatchObject({
      kind: 'refused',
      reason: 'state',
      receipt: { state: 'started' },
    });
    expect(store.applyChange('nothing', started)).toMatchObject({ reason: 'not_found' });
    expect(store.cursor().eventId).toBe(2);
  });

  test('a long error message is cut on a character', () => {
    const deliveryId = reserve('k');
    const message = `${'x'.repeat(1023)}🐎🐎`;
    store.applyChange(deliveryId, { state: 'unknown', error: { code: 'INTERNAL', message } });
    expect(store.getReceipt('local', 'k')?.error?.message).toBe(`${'x'.repeat(1023)}…`);
  });

  test('together: all with their events, or none', () => {
    const one = reserve('one');
    const two = settle('two');
    const before = store.cursor().eventId;
    const completed = { state: 'completed' } as const;
    expect(
      store.applyTogether([
        { deliveryId: one, change: completed },
        { deliveryId: two, change: { state: 'unknown' } },
      ]),
    ).toEqual({ kind: 'refused', deliveryId: two, reason: 'final' });
    expect(store.getReceipt('local', 'one')?.state).toBe('queued');
    expect(store.cursor().eventId).toBe(before);

    const applied = store.applyTogether(
      [
        { deliveryId: one, change: { state: 'started', turnId: 't' } },
        { deliveryId: one, change: completed },
        { deliveryId: two, change: completed },
      ],
      [{ kind: 'turn.done', agentId: 'agent', payload: { turnId: 't', outcome: 'completed' } }],
    );
    if (applied.kind !== 'applied') throw new Error(applied.kind);
    expect(applied.receipts.map(({ state }) => state)).toEqual([
      'started',
      'completed',
      'completed',
    ]);
    expect(applied.events.map(({ event }) => event.kind)).toEqual([
      'receipt.updated',
      'receipt.updated',
      'turn.done',
    ]);
  });

  test('unresolved ones are listed, oldest first', () => {
    const one = reserve('one');
    settle('two');
    const three = reserve('three', { agentId: 'other' });
    const listed = store.listUnresolved().map(({ receipt }) => receipt.deliveryId);
    expect(listed).toEqual([one, three]);
    expect(store.listUnresolved('other').map(({ receipt }) => receipt.deliveryId)).toEqual([three]);
  });
});

describe('restart', () => {
  test('a new instance of the same machine', () => {
    const { machineId, serverInstanceId } = store;
    reopen();
    expect(store.machineId).toBe(machineId);
    expect(store.serverInstanceId).not.toBe(serverInstanceId);
  });

  test('settles what was in flight by what the journal proves', () => {
    const born = store.serverInstanceId;
    const untouched = reserve('untouched');
    const marked = reserve('marked');
    store.markDispatch(mark(marked));
    const accepted = reserve('accepted');
    store.markDispatch(mark(accepted));
    store.applyChange(accepted, {
      state: 'started',
      turnId: 't',
      input: { phase: 'accepted', evidence: 'record' },
    });
    const stop = reserve('stop', { operation: 'turn.stop' });
    store.applyChange(stop, { state: 'delivered' });
    const doubt = settle('doubt', {
      state: 'unknown',
      error: { code: 'NOT_CONFIRMED', message: '' },
    });
    settle('done');
    const last = store.cursor();

    reopen();
    const settled = store.reconcileAfterRestart();
    expect(settled.map(({ receipt }) => [receipt.deliveryId, receipt.state])).toEqual([
      [untouched, 'rejected'],
      [marked, 'unknown'],
      [accepted, 'unknown'],
      [stop, 'unknown'],
    ]);
    for (const { receipt } of settled) {
      expect(receipt.error?.code).toBe('DAEMON_RESTART');
      expect(receipt.serverInstanceId).toBe(born);
    }
    expect(store.getReceipt('local', 'marked')?.input?.phase).toBe('unconfirmed');
    expect(store.getReceipt('local', 'accepted')).toMatchObject({
      turnId: 't',
      input: { phase: 'accepted', evidence: 'record' },
    });
    expect(store.getByDelivery(doubt)?.receipt.error?.code).toBe('NOT_CONFIRMED');
    expect(store.replay(last, 'local')).toEqual({
      kind: 'events',
      events: settled.map(({ event }) => event),
    });
    expect(store.reconcileAfterRestart()).toEqual([]);
    expect(store.applyChange(accepted, { state: 'completed' }).kind).toBe('applied');
  });

  test('leaves what this instance has in flight', () => {
    reserve('k');
    expect(store.reconcileAfterRestart()).toEqual([]);
    expect(store.getReceipt('local', 'k')?.state).toBe('queued');
  });
});

describe('events', () => {
  const changed = { kind: 'agents.changed', payload: { agents: [] } } as const;

  function replayedIds(deviceId = 'local', cursor = { ...store.cursor(), eventId: 0 }): number[] {
    const replay = store.replay(cursor, deviceId);
    if (replay.kind !== 'events') throw new Error(replay.reason);
    return replay.events.map(({ event }) => event.eventId);
  }

  test('a device sees its own and everybody’s', () => {
    reserve('k', { deviceId: 'phone' });
    store.appendEvent(changed);
    reserve('k');
    expect(replayedIds('phone')).toEqual([1, 2]);
    expect(replayedIds('local')).toEqual([2, 3]);
  });

  test('the ring keeps the newest, over a restart too', () => {
    reopen({ eventRingCount: 10 });
    for (let count = 0; count < 200; count += 1) store.appendEvent(changed);
    const cursor = store.cursor();
    expect(store.replay({ ...cursor, eventId: cursor.eventId - 11 }, 'local')).toEqual({
      kind: 'resync',
      reason: 'cursor_too_old',
    });
    reopen({ eventRingCount: 10 });
    expect(replayedIds('local', { ...cursor, eventId: cursor.eventId - 10 })).toHaveLength(10);
    store.appendEvent(changed);
    const [next] = replayedIds('local', cursor);
    expect(next).toBeGreaterThan(cursor.eventId);
  });

  test('a cursor this store never gave means a resync', () => {
    store.appendEvent(changed);
    const changedInstance = { kind: 'resync', reason: 'instance_changed' };
    expect(store.replay({ serverInstanceId: 'other', eventId: 0 }, 'local')).toEqual(
      changedInstance,
    );
    const ahead = { ...store.cursor(), eventId: 2 };
    expect(store.replay(ahead, 'local')).toEqual(changedInstance);
    reopen();
    expect(store.replay(ahead, 'local')).toEqual(changedInstance);
  });

  test('a payload over 32 KiB is refused and changes nothing', () => {
    const large = { ...changed, payload: { text: '語'.repeat(11_000) } };
    expect(() => store.appendEvent(large)).toThrow(
      expect.objectContaining({ code: 'EVENT_TOO_LARGE' }),
    );
    const deliveryId = reserve('k');
    const complete = { deliveryId, change: { state: 'completed' } } as const;
    expect(() => store.applyTogether([complete], [large])).toThrow(
      expect.objectContaining({ code: 'EVENT_TOO_LARGE' }),
    );
    expect(store.getReceipt('local', 'k')?.state).toBe('queued');
    expect(store.cursor().eventId).toBe(1);
  });
});
