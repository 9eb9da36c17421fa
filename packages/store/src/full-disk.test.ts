import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock, VirtualClock } from '@ostler/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from './open.js';
import type { ReceiptStore, ReserveResult } from './receipt-store.js';
import { buildProgram } from './testing/build-program.js';

const clock = new VirtualClock();
let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'ostler-full-'));
});

afterEach(() => rmSync(base, { recursive: true }));

function reserve(store: ReceiptStore, key: string): ReserveResult {
  return store.reserve({
    deviceId: 'local',
    idempotencyKey: key,
    intentDigest: 'digest',
    operation: 'turn.send',
    agentId: 'agent',
  });
}

/** Reserves until the store throws; says how many were reserved before. */
function fill(store: ReceiptStore, code: string): number {
  let count = 0;
  const more = (): void => {
    for (; count < 100_000; count += 1) {
      const result = reserve(store, `fill-${count}`);
      if (result.kind !== 'reserved') throw new Error(result.kind);
    }
  };
  expect(more).toThrow(expect.objectContaining({ code }));
  return count;
}

/** What was refused for want of space isn't there; everything else is. */
function expectIntact(store: ReceiptStore, count: number): void {
  expect(store.getReceipt('local', `fill-${count}`)).toBeNull();
  expect(store.getReceipt('local', `fill-${count - 1}`)?.state).toBe('queued');
  expect(store.listUnresolved()).toHaveLength(count);
}

const roomy = { receiptsPerDeviceCount: 200_000 };

test('a limit of our own', () => {
  const stateDir = join(base, 'state');
  using store = openStore({ stateDir, clock, limits: { ...roomy, maxStoreBytes: 400_000 } });
  const count = fill(store, 'STORE_FULL');
  expect(count).toBeGreaterThan(100);
  expectIntact(store, count);
  store.close();
  using larger = openStore({ stateDir, clock, limits: roomy });
  expectIntact(larger, count);
  expect(reserve(larger, `fill-${count}`).kind).toBe('reserved');
});

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const probe = mkdtempSync(join(tmpdir(), 'ostler-mount-'));
  try {
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe]).status !== 0) {
      return false;
    }
    return spawnSync('umount', [probe]).status === 0;
  } finally {
    rmSync(probe, { recursive: true });
  }
}

describe.skipIf(!canMount())('a small file system (needs the right to mount)', () => {
  let mount: string;

  beforeEach(() => {
    mount = join(base, 'disk');
    mkdirSync(mount, { mode: 0o700 });
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', mount]);
  });

  afterEach(() => {
    expect(spawnSync('umount', [mount]).status).toBe(0);
  });

  test('reserves again once there is space', () => {
    const ballast = join(mount, 'ballast');
    writeFileSync(ballast, Buffer.alloc(300_000));
    const stateDir = join(mount, 'state');
    using store = openStore({ stateDir, clock, limits: roomy });
    const count = fill(store, 'STORE_FULL');
    expectIntact(store, count);
    expect(() => reserve(store, 'another')).toThrow(
      expect.objectContaining({ code: 'STORE_FULL' }),
    );
    rmSync(ballast);
    expect(reserve(store, `fill-${count}`).kind).toBe('reserved');
    store.close();
    using reopened = openStore({ stateDir, clock, limits: roomy });
    expectIntact(reopened, count + 1);
  });

  test('no store is made without space, and one is with it', () => {
    const ballast = join(mount, 'ballast');
    expect(() => writeFileSync(ballast, Buffer.alloc(2_000_000))).toThrow(/ENOSPC/);
    const stateDir = join(mount, 'state');
    expect(() => openStore({ stateDir, clock })).toThrow(
      expect.objectContaining({ code: 'STORE_FULL' }),
    );
    rmSync(ballast);
    using store = openStore({ stateDir, clock });
    expect(reserve(store, 'k').kind).toBe('reserved');
  });

  test('mounted read-only', () => {
    const stateDir = join(mount, 'state');
    openStore({ stateDir, clock }).close();
    spawnSync('mount', ['-o', 'remount,ro', mount]);
    for (const place of [stateDir, join(mount, 'new')]) {
      expect(() => openStore({ stateDir: place, clock })).toThrow(
        expect.objectContaining({ code: 'STORE_READ_ONLY' }),
      );
    }
  });
});

test.skipIf(process.platform === 'win32')(
  'a limit on the size of files: what was acknowledged stays',
  { timeout: 30_000 },
  async () => {
    using program = await buildProgram();
    const stateDir = join(base, 'state');
    const command = 'ulimit -f 2000 && exec "$0" "$@"';
    const child = spawn('bash', ['-c', command, process.execPath, program.path, 'fill', stateDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const reserved: [string, string][] = [];
    let failure = '';
    for await (const line of createInterface({ input: child.stdout })) {
      const [what, one = '', two = ''] = line.split(' ');
      if (what === 'reserved') reserved.push([one, two]);
      else failure = one;
    }
    expect(failure).toBe('STORE_IO');
    expect(reserved.length).toBeGreaterThan(20);
    using store = openStore({ stateDir, clock: systemClock });
    for (const [, deliveryId] of reserved) {
      expect(store.getByDelivery(deliveryId)).not.toBeNull();
    }
  },
);
