import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { VirtualClock } from '@ostler/runtime';
import SqliteDatabase from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from './open.js';
import type { ReceiptStore } from './receipt-store.js';
import { buildProgram, type Program } from './testing/build-program.js';

const clock = new VirtualClock();
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

let program: Program;
let base: string;
let dir: string;
let file: string;

beforeAll(async () => {
  program = await buildProgram();
}, 30_000);

afterAll(() => program[Symbol.dispose]());

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'ostler-open-'));
  dir = join(base, 'state');
  file = join(dir, 'ostler.db');
});

afterEach(() => rmSync(base, { recursive: true }));

function open(stateDir = dir): ReceiptStore {
  return openStore({ stateDir, clock });
}

function refusal(code: string): unknown {
  return expect.objectContaining({ code });
}

function reserve(store: ReceiptStore, key: string): void {
  const result = store.reserve({
    deviceId: 'local',
    idempotencyKey: key,
    intentDigest: 'digest',
    operation: 'turn.send',
    agentId: 'agent',
  });
  expect(result.kind).toBe('reserved');
}

/** Another process; as a user without rights where we are root. Resolves at its first line. */
async function say(
  args: readonly string[],
  options: { unprivileged?: boolean } = {},
): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [program.path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(options.unprivileged === true && isRoot ? { uid: nobody, gid: nobody } : {}),
  });
  for await (const line of createInterface({ input: child.stdout })) return { child, line };
  throw new Error('the process said nothing');
}

async function end(child: ChildProcess, signal?: 'SIGKILL'): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode !== null) return;
  if (signal === undefined) child.stdin?.end();
  else child.kill(signal);
  await ended;
}

/** A store whose last changes are in the log alone: its process was killed. */
async function killedStore(): Promise<void> {
  open().close();
  const { child } = await say(['live', dir, 'round', '60']);
  await end(child);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
}

/** What is there, by digest. A look may leave an index and an empty log. */
function files(): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(dir)) {
    const bytes = readFileSync(join(dir, name));
    if (name.endsWith('-shm') || (name.endsWith('-wal') && bytes.length === 0)) continue;
    found.set(name, createHash('sha256').update(bytes).digest('hex'));
  }
  return found;
}

describe('modes', () => {
  test('the directory is 0700 and every file 0600, whatever the umask', () => {
    const mask = process.umask(0);
    try {
      using store = open();
      reserve(store, 'k');
      expect(statSync(dir).mode & 0o777).toBe(0o700);
      const modes = readdirSync(dir).map((name) => statSync(join(dir, name)).mode & 0o777);
      expect(modes.length).toBeGreaterThan(1);
      for (const mode of modes) expect(mode).toBe(0o600);
    } finally {
      process.umask(mask);
    }
  });

  test('an empty directory, or one with a store, is closed to others', () => {
    mkdirSync(dir, { mode: 0o755 });
    open().close();
    chmodSync(dir, 0o755);
    chmodSync(file, 0o644);
    open().close();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('a directory others use is refused and left as it is', () => {
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'notes.txt'), '');
    expect(() => open()).toThrow(refusal('STORE_DIR_SHARED'));
    expect(statSync(dir).mode & 0o777).toBe(0o755);
    expect(readdirSync(dir)).toEqual(['notes.txt']);
  });

  test('closed, nothing but the database is left', () => {
    const store = open();
    reserve(store, 'k');
    store.close();
    store.close();
    expect(readdirSync(dir)).toEqual(['ostler.db']);
    expect(() => store.getReceipt('local', 'k')).toThrow(refusal('STORE_CLOSED'));
  });

  test('limits are whole numbers', () => {
    expect(() => openStore({ stateDir: dir, clock, limits: { eventRingCount: 0 } })).toThrow(
      refusal('STORE_OPTION_INVALID'),
    );
    expect(existsSync(dir)).toBe(false);
  });
});

describe('damage', () => {
  const random = Buffer.from(Array.from({ length: 20_000 }, (_, n) => (n * 2654435761) >>> 13));

  test.each<[string, () => void]>([
    ['random bytes', () => writeFileSync(file, random)],
    ['an empty file', () => truncateSync(file, 0)],
    ['a file cut in the header', () => truncateSync(file, 50)],
    ['a file cut in the middle', () => truncateSync(file, statSync(file).size / 2 + 100)],
    [
      'pages overwritten',
      () => {
        const bytes = readFileSync(file);
        random.copy(bytes, 4096 * 2, 0, 4096 * 4);
        writeFileSync(file, bytes);
      },
    ],
    [
      'another program’s database',
      () => {
        rmSync(file);
        new SqliteDatabase(file).exec('CREATE TABLE t (x)').close();
      },
    ],
    [
      'a table gone',
      () => {
        const database = new SqliteDatabase(file);
        database.exec('DROP TABLE meta').close();
      },
    ],
  ])('%s', (_what, damage) => {
    const store = open();
    for (let count = 0; count < 40; count += 1) reserve(store, `k${count}`);
    store.close();
    damage();
    const before = files();
    expect(() => open()).toThrow(refusal('STORE_CORRUPT'));
    expect(files()).toEqual(before);
    // The refusal lets go of everything.
    expect(() => open()).toThrow(refusal('STORE_CORRUPT'));
  });

  test('with changes still in the log, file and log are left as they are', async () => {
    await killedStore();
    const bytes = readFileSync(file);
    random.copy(bytes, 4096 * 2, 0, 4096 * 4);
    writeFileSync(file, bytes);
    const log = readFileSync(`${file}-wal`);
    // Cut off the log's copies of those pages, all but the last commits' worth.
    writeFileSync(`${file}-wal`, log.subarray(0, 32 + 24 + 4096));
    const before = files();
    expect(() => open()).toThrow(refusal('STORE_CORRUPT'));
    expect(files()).toEqual(before);
  });

  test('a log without its database', async () => {
    await killedStore();
    rmSync(file);
    const before = files();
    expect(() => open()).toThrow(refusal('STORE_CORRUPT'));
    expect(files()).toEqual(before);
  });

  test('a newer version’s store is left as it is', () => {
    open().close();
    const database = new SqliteDatabase(file);
    database.pragma('user_version = 999');
    database.close();
    const before = files();
    expect(() => open()).toThrow(refusal('STORE_TOO_NEW'));
    expect(files()).toEqual(before);
  });

  test('a store half made by a process that died is made anew', () => {
    mkdirSync(dir, { mode: 0o700 });
    writeFileSync(join(dir, 'ostler.db.1.unfinished'), 'half');
    writeFileSync(join(dir, 'ostler.db.1.unfinished-journal'), 'half');
    using store = open();
    reserve(store, 'k');
    expect(readdirSync(dir).filter((name) => name.includes('unfinished'))).toEqual([]);
  });
});

describe('places that can’t be written', () => {
  test('a file where the directory should be', () => {
    writeFileSync(dir, '');
    expect(() => open()).toThrow(refusal('STORE_DIR_UNWRITABLE'));
    expect(() => open(join(dir, 'below'))).toThrow(refusal('STORE_DIR_UNWRITABLE'));
  });

  test('a directory without the right to write', async () => {
    mkdirSync(dir);
    if (isRoot) for (const path of [base, dir]) chownSync(path, nobody, nobody);
    chmodSync(dir, 0o500);
    const { child, line } = await say(['hold', dir], { unprivileged: true });
    await end(child);
    expect(line).toBe('failed STORE_DIR_UNWRITABLE');
    chmodSync(dir, 0o700);
  });

  test('a database without the right to write', async () => {
    open().close();
    if (isRoot) for (const path of [base, dir, file]) chownSync(path, nobody, nobody);
    chmodSync(file, 0o400);
    const { child, line } = await say(['hold', dir], { unprivileged: true });
    await end(child);
    expect(line).toBe('failed STORE_READ_ONLY');
  });
});

describe('one process at a time', () => {
  test('within a process, by another name of the directory too', () => {
    using store = open();
    const alias = join(base, 'alias');
    symlinkSync(dir, alias);
    expect(() => open()).toThrow(refusal('STORE_LOCKED'));
    expect(() => open(alias)).toThrow(refusal('STORE_LOCKED'));
    reserve(store, 'k');
    store.close();
    open(alias).close();
  });

  test('between processes, after refused openers too', async () => {
    using store = open();
    reserve(store, 'k');
    expect(() => open()).toThrow(refusal('STORE_LOCKED'));
    for (let count = 0; count < 2; count += 1) {
      const { child, line } = await say(['hold', dir]);
      await end(child);
      expect(line).toBe('failed STORE_LOCKED');
    }
    reserve(store, 'k2');
  });

  test('kill -9 lets it go at once', async () => {
    const { child, line } = await say(['hold', dir]);
    expect(line).toMatch(/^open /);
    expect(() => open()).toThrow(refusal('STORE_LOCKED'));
    await end(child, 'SIGKILL');
    open().close();
  });

  test('of several first openers exactly one gets it', async () => {
    const openers = await Promise.all(Array.from({ length: 4 }, () => say(['hold', dir])));
    const lines = openers.map(({ line }) => line.split(' '));
    await Promise.all(openers.map(({ child }) => end(child)));
    const outcomes = lines.map(([what, code]) => (what === 'open' ? what : code)).sort();
    expect(outcomes).toEqual(['STORE_LOCKED', 'STORE_LOCKED', 'STORE_LOCKED', 'open']);
    open().close();
    expect(readdirSync(dir)).toEqual(['ostler.db']);
  });
});
