/*
 * The process that dies. Says each thing on stdout once the store has returned from it, by a
 * write that is done when it returns; what was said is what the store acknowledged.
 */
import { statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ReceiptChange } from '@ostler/protocol';
import { isCoded, systemClock } from '@ostler/runtime';
import { openStore } from '../open.js';
import type { ReceiptStore } from '../receipt-store.js';

const [mode, stateDir = '', ...rest] = process.argv.slice(2);

function say(...words: (string | number)[]): void {
  writeSync(1, `${words.join(' ')}\n`);
}

function reserve(store: ReceiptStore, key: string): string {
  const result = store.reserve({
    deviceId: 'local',
    idempotencyKey: key,
    intentDigest: 'digest',
    operation: 'turn.send',
    agentId: 'agent',
    textBytes: 5,
    input: { mode: 'direct', phase: 'waiting_for_turn' },
  });
  if (result.kind !== 'reserved') throw new Error(result.kind);
  return result.receipt.deliveryId;
}

/** Together with its result, whose id is the delivery's. */
function complete(store: ReceiptStore, deliveryId: string, change: ReceiptChange): void {
  const payload = { resultId: deliveryId, fullText: 'an answer' };
  store.applyTogether(
    [{ deliveryId, change }],
    [{ kind: 'turn.result', agentId: 'agent', deviceId: 'local', payload }],
    { endedTurnId: `turn of ${deliveryId}` },
  );
}

/** By path: a descriptor of our own would let the store's lock go when closed. */
function logBytes(): number {
  return statSync(join(stateDir, 'ostler.db-wal')).size;
}

/** Receipts through their lives, to death: own death at step `dieAt`, or another's kill. */
function live(round: string, dieAt: number): void {
  const store = openStore({ stateDir, clock: systemClock });
  let step = 0;
  const pass = (): void => {
    if (step === dieAt) process.kill(process.pid, 'SIGKILL');
    step += 1;
  };
  const done = (...words: (string | number)[]): void => {
    pass();
    say(...words);
    pass();
  };
  const changes: ReceiptChange[] = [
    { state: 'delivered', input: { phase: 'submitted' } },
    { state: 'started', turnId: 't', input: { phase: 'accepted', evidence: 'record' } },
    { state: 'completed' },
  ];
  for (let count = 0; ; count += 1) {
    const key = `${round}-${count}`;
    const deliveryId = reserve(store, key);
    done('reserved', key, deliveryId, logBytes());
    store.markDispatch({
      deliveryId,
      mode: 'direct',
      pid: process.pid,
      startTime: '1',
      fingerprint: 'print',
      atMs: systemClock.nowMs(),
    });
    done('marked', deliveryId, logBytes());
    store.markStep(deliveryId, 'enter_begun');
    // Some end early, so that every state is left behind.
    for (const change of changes.slice(0, 1 + (count % 3))) {
      if (change.state === 'completed') complete(store, deliveryId, change);
      else store.applyChange(deliveryId, change);
      done('state', deliveryId, change.state ?? '');
    }
  }
}

/** Holds the store until stdin ends. */
function hold(): void {
  const store = openStore({ stateDir, clock: systemClock });
  say('open', store.serverInstanceId);
  process.stdin.on('end', () => store.close());
  process.stdin.resume();
}

/** Reserves until the store refuses. */
function fill(): void {
  using store = openStore({ stateDir, clock: systemClock });
  for (let count = 0; count < 5000; count += 1) {
    const deliveryId = reserve(store, `fill-${count}`);
    say('reserved', `fill-${count}`, deliveryId);
    store.applyChange(deliveryId, { state: 'completed' });
  }
}

try {
  if (mode === 'live') live(rest[0] ?? '', Number(rest[1] ?? -1));
  else if (mode === 'hold') hold();
  else if (mode === 'fill') fill();
} catch (error) {
  if (!isCoded(error)) throw error;
  say('failed', error.code);
}
