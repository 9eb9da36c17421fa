import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCoded, systemClock } from '@ostler/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from './open.js';
import { buildProgram, type Program } from './testing/build-program.js';
import {
  type DiskStep,
  type Losses,
  parseTrace,
  RecordedDisk,
  recordTrace,
  whyNotTraced,
} from './testing/recorded-disk.js';

/** Power cuts in a normal run; more by the environment for a long one. */
const cutsCount = Number(process.env['OSTLER_STORE_CUTS'] ?? 300);
/** Steps of the recorded life: enough that its log is folded into the file several times. */
const stepsCount = 1600;
const whyNot = whyNotTraced();

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = (seed + 1) * 2654435761;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917;
    return ((state >>> 8) & 0xffff) / 0x10000;
  };
}

/** Ways to lose what was not synced. */
const ways: readonly (readonly [string, (seed: number) => Losses])[] = [
  ['all of it', () => ({ keepsSector: () => false, namesKept: () => 0 })],
  ['none of it', () => ({ keepsSector: () => true, namesKept: (count) => count })],
  [
    'all but the newest write of each file',
    () => ({ keepsSector: (change, count) => change === count - 1, namesKept: (count) => count }),
  ],
  [
    'the oldest write of each file',
    () => ({ keepsSector: (change) => change > 0, namesKept: (count) => count }),
  ],
  [
    'half of the newest write of each file',
    () => ({
      keepsSector: (change, count, sector) => change < count - 1 || sector % 8 < 4,
      namesKept: (count) => count,
    }),
  ],
  [
    'some sectors',
    (seed) => {
      const next = numbers(seed);
      return {
        keepsSector: () => next() < 0.5,
        namesKept: (count) => Math.floor(next() * (count + 1)),
      };
    },
  ],
];

describe.skipIf(whyNot !== null)(`power cuts${whyNot === null ? '' : ` (${whyNot})`}`, () => {
  let program: Program;
  let base: string;
  let steps: DiskStep[];
  const stateDir = (): string => join(base, 'recorded');

  beforeAll(async () => {
    program = await buildProgram();
    base = mkdtempSync(join(tmpdir(), 'ostler-power-'));
    const tracePath = join(base, 'trace');
    await recordTrace([program.path, 'live', stateDir(), 'power', String(stepsCount)], tracePath);
    steps = parseTrace(readFileSync(tracePath, 'latin1'), stateDir());
  }, 120_000);

  afterAll(() => {
    program[Symbol.dispose]();
    rmSync(base, { recursive: true });
  });

  test('the record has what a power cut can part', () => {
    const opened = new Map<number, string>();
    const counts = { log: 0, file: 0, said: 0, syncs: 0 };
    let isMade = false;
    for (const step of steps) {
      if (step.do === 'open') opened.set(step.fd, step.path);
      else if (step.do === 'link') isMade = true;
      else if (step.do === 'say') counts.said += 1;
      else if (step.do === 'sync') counts.syncs += 1;
      else if (step.do === 'write' && isMade) {
        counts[opened.get(step.fd)?.endsWith('-wal') === true ? 'log' : 'file'] += 1;
      }
    }
    expect(counts.log).toBeGreaterThan(2000);
    // The log was folded into the file.
    expect(counts.file).toBeGreaterThan(20);
    expect(counts.said).toBe(stepsCount / 2);
    expect(counts.syncs).toBeGreaterThan(stepsCount / 8);
  });

  test(`what was acknowledged as on the disk is there, after ${cutsCount} power cuts`, {
    timeout: 60_000 + cutsCount * 400,
  }, () => {
    const disk = new RecordedDisk(stateDir());
    const chosen = chooseCuts(steps, cutsCount);
    const reserved = new Map<string, string>();
    const marked = new Set<string>();
    const found = { cuts: 0, refused: 0, lossy: 0, checked: 0 };
    steps.forEach((step, number) => {
      disk.take(step);
      if (step.do === 'say') {
        const [what, one = '', two = ''] = step.line.split(' ');
        if (what === 'reserved') reserved.set(one, two);
        if (what === 'marked') marked.add(one);
      }
      for (let turn = chosen.get(number) ?? 0; turn > 0; turn -= 1) {
        const way = ways[found.cuts % ways.length];
        if (!way) throw new Error('there is no such way');
        if (disk.pendingCount > 0) found.lossy += 1;
        found.cuts += 1;
        const image = disk.image(way[1](number));
        const place = `step ${number}, losing ${way[0]}`;
        expect({ place, faults: faultsOf(image, reserved, marked, found) }).toEqual({
          place,
          faults: [],
        });
      }
    });
    process.stdout.write(
      `power cuts: ${found.cuts} of ${steps.length} steps and ${ways.length} ways to lose, ` +
        `${found.lossy} with something to lose, ${found.checked} acknowledgements held, ${found.refused} refused as damaged\n`,
    );
    expect(found.cuts).toBeGreaterThan(cutsCount / 2);
    expect(found.lossy).toBeGreaterThan(found.cuts / 3);
    // The disk tears no sector: nothing of ours has to be refused.
    expect(found.refused).toBe(0);
  });

  function faultsOf(
    image: ReadonlyMap<string, Buffer>,
    reserved: ReadonlyMap<string, string>,
    marked: ReadonlySet<string>,
    found: { refused: number; checked: number },
  ): string[] {
    const dir = join(base, 'image');
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { mode: 0o700 });
    for (const [name, bytes] of image) writeFileSync(join(dir, name), bytes, { mode: 0o600 });
    const faults: string[] = [];
    try {
      using store = openStore({ stateDir: dir, clock: systemClock });
      for (const [key, deliveryId] of reserved) {
        found.checked += 1;
        const request = { deviceId: 'local', idempotencyKey: key, intentDigest: 'digest' };
        if (store.lookup(request).kind !== 'duplicate') faults.push(`${key} is free again`);
        const state = store.getByDelivery(deliveryId)?.receipt.state;
        const isComplete = state === 'completed';
        const turn = store.hasEnded(`turn of ${deliveryId}`);
        if (store.hasResult(deliveryId) !== isComplete || turn !== isComplete) {
          faults.push(`${key} is ${state} without its result, or the other way round`);
        }
      }
      store.reconcileAfterRestart();
      for (const deliveryId of marked) {
        found.checked += 1;
        const record = store.getByDelivery(deliveryId);
        if (!record?.dispatch) faults.push(`${deliveryId} has lost its mark`);
        if (record?.receipt.state === 'rejected') faults.push(`${deliveryId} is rejected`);
      }
      for (const { receipt } of store.listUnresolved()) {
        if (receipt.state !== 'unknown') faults.push(`${receipt.deliveryId} is ${receipt.state}`);
      }
    } catch (failure) {
      if (!isCoded(failure) || failure.code !== 'STORE_CORRUPT') throw failure;
      found.refused += 1;
    }
    return faults;
  }
});

/**
 * How many cuts after which step: half of them among the steps that touch the file itself, its
 * names or a sync, since an order that is wrong shows there; the rest over all.
 */
function chooseCuts(steps: readonly DiskStep[], count: number): Map<number, number> {
  const next = numbers(count);
  const logs = new Set<number>();
  const delicate: number[] = [];
  steps.forEach((step, number) => {
    if (step.do === 'open') logs[step.path.endsWith('-wal') ? 'add' : 'delete'](step.fd);
    else if (step.do === 'write' && logs.has(step.fd)) return;
    if (step.do !== 'say') delicate.push(number);
  });
  const chosen = new Map<number, number>();
  for (let cut = 0; cut < count; cut += 1) {
    const among = cut % 2 === 0 ? delicate : steps.map((_, number) => number);
    const number = among[Math.floor(next() * among.length)] ?? 0;
    chosen.set(number, (chosen.get(number) ?? 0) + 1);
  }
  return chosen;
}
