import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mayMove, type Receipt, type ReceiptState } from '@ostler/protocol';
import { systemClock } from '@ostler/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from './open.js';
import type { EventCursor, ReceiptStore } from './receipt-store.js';
import { buildProgram, type Program } from './testing/build-program.js';

/** Processes killed in a normal run; more by the environment for a long one. */
const killsCount = Number(process.env.OSTLER_STORE_KILLS ?? 120);
const lanesCount = 3;
/** Deaths one store lives through before the lane takes a new one. */
const deathsPerStoreCount = 10;
/** Steps between two calls in the lives of about five receipts. */
const stepsCount = 40;

/** What one process said before it died. */
interface Said {
  readonly reserved: Map<string, string>;
  /** How long the log was when a reservation or a mark was acknowledged. */
  readonly durable: { readonly deliveryId: string; readonly logBytes: number }[];
  readonly marked: Set<string>;
  readonly states: Map<string, ReceiptState>;
}

let program: Program;
let dir: string;

beforeAll(async () => {
  program = await buildProgram();
  dir = mkdtempSync(join(tmpdir(), 'ostler-crash-'));
}, 30_000);

afterAll(() => {
  program[Symbol.dispose]();
  rmSync(dir, { recursive: true });
});

/** Runs one process to its death: its own at a step, or ours once it said `lines` things. */
async function runToDeath(
  stateDir: string,
  round: string,
  death: { dieAt: number } | { lines: number },
): Promise<Said> {
  const said: Said = { durable: [], reserved: new Map(), marked: new Set(), states: new Map() };
  const dieAt = 'dieAt' in death ? death.dieAt : -1;
  const child = spawn(process.execPath, [program.path, 'live', stateDir, round, String(dieAt)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const signal = new Promise<string | null>((resolve) => {
    child.on('exit', (_code, name) => resolve(name));
  });
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, one = '', two = '', three = ''] = line.split(' ');
    if (what === 'reserved') {
      said.reserved.set(one, two);
      said.durable.push({ deliveryId: two, logBytes: Number(three) });
    } else if (what === 'marked') said.marked.add(one);
    else if (what === 'state') said.states.set(one, two as ReceiptState);
    else throw new Error(line);
    lines += 1;
    if ('lines' in death && lines === death.lines) child.kill('SIGKILL');
  }
  expect(await signal).toBe('SIGKILL');
  return said;
}

const mark = { mode: 'direct', pid: 1, startTime: '1', fingerprint: null, atMs: 1 } as const;

/** A completion, its result and the mark of its turn: all three or none. */
function expectResultsWithReceipts(store: ReceiptStore, deliveryIds: readonly string[]): void {
  for (const deliveryId of deliveryIds) {
    const completed = store.getByDelivery(deliveryId)?.receipt.state === 'completed';
    expect(store.hasResult(deliveryId)).toBe(completed);
    expect(store.hasEnded(`turn of ${deliveryId}`)).toBe(completed);
  }
}

/** Looks at what the dead process left, and settles it. Returns the cursor to go on from. */
function examine(store: ReceiptStore, said: Said, since: EventCursor | null): EventCursor {
  const latest = new Map<string, Receipt>();
  if (since !== null) {
    const replay = store.replay(since, 'local');
    if (replay.kind !== 'events') throw new Error(`resync: ${replay.reason}`);
    let last = since.eventId;
    for (const { event } of replay.events) {
      expect(event.eventId).toBeGreaterThan(last);
      last = event.eventId;
      if (event.kind !== 'receipt.updated') continue;
      const { receipt } = event.payload as { receipt: Receipt };
      const before = latest.get(receipt.deliveryId);
      if (before && before.state !== receipt.state) {
        expect(mayMove(before.state, receipt.state)).toBe(true);
      }
      latest.set(receipt.deliveryId, receipt);
    }
    // No event without its receipt, and no receipt otherwise than its last event says.
    for (const [deliveryId, receipt] of latest) {
      expect(store.getByDelivery(deliveryId)?.receipt).toEqual(receipt);
    }
  }

  const unresolved = store.listUnresolved().filter(({ receipt }) => receipt.state !== 'unknown');
  if (since !== null) {
    for (const { receipt } of unresolved) expect(latest.has(receipt.deliveryId)).toBe(true);
  }
  for (const [key, deliveryId] of said.reserved) {
    const request = { deviceId: 'local', idempotencyKey: key, intentDigest: 'digest' };
    expect(store.lookup(request)).toMatchObject({ kind: 'duplicate', receipt: { deliveryId } });
  }
  for (const [deliveryId, state] of said.states) {
    const found = store.getByDelivery(deliveryId)?.receipt.state;
    if (found !== state) expect(mayMove(state, found ?? 'queued')).toBe(true);
  }

  expectResultsWithReceipts(store, [...said.reserved.values()]);
  const settled = store.reconcileAfterRestart();
  expect(settled.map(({ receipt }) => receipt.deliveryId)).toEqual(
    unresolved.map(({ receipt }) => receipt.deliveryId),
  );
  for (const { receipt } of settled) {
    const dispatched = store.getByDelivery(receipt.deliveryId)?.dispatch !== null;
    expect(receipt.state).toBe(dispatched ? 'unknown' : 'rejected');
  }
  for (const deliveryId of said.marked) {
    expect(store.getByDelivery(deliveryId)?.dispatch?.fingerprint).toBe('print');
    expect(store.getByDelivery(deliveryId)?.receipt.state).not.toBe('rejected');
    expect(store.markDispatch({ ...mark, deliveryId })).toMatchObject({
      kind: 'refused',
      reason: 'already_dispatched',
    });
  }
  return store.cursor();
}

/** One store through many deaths, each at another place. */
async function lane(number: number): Promise<{ kills: number; left: Map<string, number> }> {
  const left = new Map<string, number>();
  let cursor: EventCursor | null = null;
  let kills = 0;
  for (let round = number; round < killsCount; round += lanesCount) {
    const place = Math.floor(round / lanesCount);
    const store = Math.floor(place / deathsPerStoreCount);
    const stateDir = join(dir, `${number}-${store}`);
    if (place % deathsPerStoreCount === 0) cursor = null;
    const death =
      place % 2 === 0 ? { dieAt: (place / 2) % stepsCount } : { lines: 1 + (place % 23) };
    const said = await runToDeath(stateDir, `${number}-${round}`, death);
    kills += 1;
    // Unlocked at once: the lock went with the process.
    using reopened = openStore({ stateDir, clock: systemClock });
    for (const { receipt } of reopened.listUnresolved()) {
      left.set(receipt.state, (left.get(receipt.state) ?? 0) + 1);
    }
    cursor = examine(reopened, said, cursor);
  }
  return { kills, left };
}

test(`nothing acknowledged is lost over ${killsCount} deaths by SIGKILL`, {
  timeout: 60_000 + killsCount * 500,
}, async () => {
  const lanes = await Promise.all(Array.from({ length: lanesCount }, (_, number) => lane(number)));
  let kills = 0;
  for (const one of lanes) {
    kills += one.kills;
    for (const state of ['queued', 'delivered', 'started']) {
      expect([...one.left.keys()]).toContain(state);
    }
  }
  expect(kills).toBe(killsCount);
});

/** What a power cut leaves behind the last write that reached the disk. */
const tails: readonly (readonly [string, (log: Buffer, from: number) => Buffer])[] = [
  ['cut short', () => Buffer.alloc(0)],
  ['torn, with sectors of nonsense', (_log, from) => nonsense(from, 3 * sectorBytes)],
  ['long enough, and empty there', () => Buffer.alloc(64 * sectorBytes)],
  [
    'missing one write, with the later ones there',
    (log, from) => Buffer.concat([nonsense(from, sectorBytes), log.subarray(from + sectorBytes)]),
  ],
];
const sectorBytes = 512;

/** The same bytes for the same place. */
function nonsense(place: number, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, at) => (place * 31 + at * 151 + 7) % 256));
}

test.each(tails)(
  'a log that is %s is a shorter history, never a wrong one',
  {
    timeout: 60_000,
  },
  async (name, tail) => {
    const origin = join(dir, `origin-${name.length}`);
    openStore({ stateDir: origin, clock: systemClock }).close();
    const said = await runToDeath(origin, 'cut', { dieAt: 120 });
    const database = readFileSync(join(origin, 'ostler.db'));
    const log = readFileSync(join(origin, 'ostler.db-wal'));
    const image = join(dir, `image-${name.length}`);
    mkdirSync(image, { mode: 0o700 });

    const states = new Map<string, ReceiptState>();
    let receiptsSeen = 0;
    const imagesCount = 150;
    for (let number = 0; number <= imagesCount; number += 1) {
      const logBytes = Math.floor((log.length * number) / imagesCount);
      writeFileSync(join(image, 'ostler.db'), database, { mode: 0o600 });
      const left = Buffer.concat([log.subarray(0, logBytes), tail(log, logBytes)]);
      writeFileSync(join(image, 'ostler.db-wal'), left, { mode: 0o600 });
      using store = openStore({ stateDir: image, clock: systemClock });
      const found = new Map(
        [...said.reserved.values()].map((deliveryId) => [
          deliveryId,
          store.getByDelivery(deliveryId),
        ]),
      );
      expectResultsWithReceipts(store, [...found.keys()]);
      for (const [deliveryId, record] of found) {
        const before = states.get(deliveryId);
        const state = record?.receipt.state;
        if (state === undefined) expect(before).toBeUndefined();
        else if (before !== undefined && before !== state)
          expect(mayMove(before, state)).toBe(true);
        if (state !== undefined) states.set(deliveryId, state);
      }
      // What was acknowledged as on the disk is there as soon as the log is as long as it was then.
      for (const { deliveryId, logBytes: needed } of said.durable) {
        if (logBytes >= needed) expect(found.get(deliveryId) ?? null).not.toBeNull();
      }
      receiptsSeen = [...found.values()].filter((record) => record !== null).length;
    }
    expect(receiptsSeen).toBe(said.reserved.size);
    expect(receiptsSeen).toBeGreaterThan(10);
  },
);
