import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@ostler/runtime';
import { afterAll, describe, expect, test } from 'vitest';
import { type InProcessPty, type PtySpawnOptions, spawnPty } from './in-process-pty.js';
import { identifyProcess, isSameProcess } from './process-identity.js';
import type { ProcessExit } from './pty-endpoint.js';

const folder = mkdtempSync(join(tmpdir(), 'ostler-pty-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function spawn(script: string, options: Partial<PtySpawnOptions> = {}): Promise<InProcessPty> {
  return spawnPty({
    file: 'sh',
    args: ['-c', script],
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', MARK: 'here' },
    cols: 80,
    rows: 24,
    ...options,
  });
}

/** Resolves once the output so far holds `wanted`. */
function seen(pty: InProcessPty, wanted: string): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    pty.onData((data) => {
      output += Buffer.from(data).toString();
      if (output.includes(wanted)) resolve(output);
    });
  });
}

function ended(pty: InProcessPty): Promise<ProcessExit> {
  return new Promise((resolve) => pty.onExit(resolve));
}

const raw = 'stty raw -echo; echo ready; ';

describe('a child', () => {
  test('gets what is written and shows what it does', async () => {
    await using pty = await spawn(`${raw} exec cat`);
    await seen(pty, 'ready');
    const echoed = seen(pty, 'héllo \u001b[A.');
    expect(await pty.write(Buffer.from('héllo \u001b[A.'))).toEqual({ kind: 'carried_out' });
    await echoed;
  });

  test('output is bytes', async () => {
    await using pty = await spawn(`printf '\\303'; printf '\\251\\377!'`);
    const parts: Uint8Array[] = [];
    pty.onData((data) => parts.push(data));
    await ended(pty);
    expect([...Buffer.concat(parts)]).toEqual([0xc3, 0xa9, 0xff, 0x21]);
  });

  test('its directory, environment, name and size are those given', async () => {
    await using pty = await spawn('pwd; env | sort; stty size; exit 7', { name: 'dumb' });
    const output = seen(pty, '24 80');
    expect(await ended(pty)).toMatchObject({ exitCode: 7, signal: null });
    const lines = (await output).trim().split('\r\n');
    expect(lines[0]).toBe(folder);
    expect(lines).toEqual(expect.arrayContaining(['MARK=here', 'TERM=dumb', `PWD=${folder}`]));
    expect(pty.exit).toMatchObject({ exitCode: 7 });
  });

  test('everything it wrote before it ended arrives before its exit', async () => {
    await using pty = await spawn('seq 1 20000');
    let output = '';
    pty.onData((data) => {
      output += Buffer.from(data).toString();
    });
    await ended(pty);
    expect(output.endsWith('19999\r\n20000\r\n')).toBe(true);
  });

  test('even to somebody who is busy while it ends', async () => {
    await using pty = await spawn('seq 1 5000');
    let output = '';
    pty.onData((data) => {
      const untilMs = systemClock.monotonicMs() + (output === '' ? 400 : 0);
      while (systemClock.monotonicMs() < untilMs);
      output += Buffer.from(data).toString();
    });
    await ended(pty);
    expect(output.endsWith('4999\r\n5000\r\n')).toBe(true);
  });

  test('sees a new size', async () => {
    await using pty = await spawn(
      `trap 'stty size; exit' WINCH; echo ready; while :; do sleep 1 & wait; done`,
    );
    await seen(pty, 'ready');
    const resized = seen(pty, '32 100');
    pty.resize(100, 32);
    await resized;
    expect([pty.cols, pty.rows]).toEqual([100, 32]);
    expect(() => pty.resize(0, 32)).toThrow(expect.objectContaining({ code: 'PTY_BAD_SIZE' }));
  });

  test('output from before the first listener is kept', async () => {
    await using pty = await spawn('echo early');
    await ended(pty);
    expect(await seen(pty, 'early')).toContain('early');
  });

  test('more than may be kept makes it wait, and is not lost', async () => {
    await using pty = await spawn('touch begun; seq 1 50000; touch finished', {
      limits: { maxUnclaimedBytes: 1_000 },
    });
    for (let turns = 0; turns < 200; ) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (existsSync(join(folder, 'begun'))) turns += 1;
    }
    expect(existsSync(join(folder, 'finished'))).toBe(false);
    expect(await seen(pty, '50000\r\n')).toContain('\r\n49999\r\n');
    await ended(pty);
    expect(existsSync(join(folder, 'finished'))).toBe(true);
  });

  test('readNow brings what the kernel already holds', async () => {
    await using pty = await spawn(`${raw} exec cat`);
    await seen(pty, 'ready');
    let output = '';
    pty.onData((data) => {
      output += Buffer.from(data).toString();
    });
    await pty.write(Buffer.from('x'));
    // Turns without the event loop: only readNow can have read it.
    for (let turn = 0; turn < 10_000_000 && output === ''; turn += 1) pty.readNow();
    expect(output).toBe('x');
  });
});

describe('its life', () => {
  test('is known by pid and start time', async () => {
    await using pty = await spawn('exec sleep 60');
    expect(pty.identity.startTime).toMatch(/^\d+$/);
    expect(pty.isSameProcessAlive()).toBe(true);
    expect(isSameProcess({ ...pty.identity, startTime: '1' })).toBe(false);
    const exit = ended(pty);
    pty.kill('SIGTERM');
    expect(await exit).toMatchObject({ exitCode: null, signal: 15 });
    expect(pty.isSameProcessAlive()).toBe(false);
    pty.kill('SIGTERM');
    expect(() => pty.resize(80, 24)).toThrow(expect.objectContaining({ code: 'PTY_CLOSED' }));
    expect(await pty.write(Buffer.from('x'))).toEqual({
      kind: 'nothing_written',
      reason: 'pty_closed',
    });
  });

  test('close ends it by a hangup, twice the same', async () => {
    const pty = await spawn('exec sleep 60');
    const exit = ended(pty);
    const closing = pty.close();
    expect(pty.close()).toBe(closing);
    await closing;
    expect(await exit).toMatchObject({ signal: 1 });
  });

  test('close kills one that ignores the hangup, and its children', async () => {
    const pty = await spawn(`trap '' HUP; sleep 60 & echo "child $!."; while :; do wait; done`, {
      limits: { closeGraceMs: 100 },
    });
    const child = Number(/child (\d+)\./.exec(await seen(pty, '.'))?.[1]);
    const childIdentity = identifyProcess(child);
    expect(isSameProcess(childIdentity)).toBe(true);
    await pty.close();
    expect(pty.exit).toMatchObject({ signal: 9 });
    // Killed, and at most not yet collected by whoever has inherited it.
    expect(isSameProcess(childIdentity)).toBe(false);
  });
});

describe('a child that never reads', () => {
  test('leaves a large write ambiguous, and the next one unwritten, in bounded time', async () => {
    await using pty = await spawn(`${raw} exec sleep 60`, { limits: { writeStallMs: 150 } });
    await seen(pty, 'ready');
    const large = pty.write(new Uint8Array(200 * 1024).fill(97));
    expect(await large).toEqual({ kind: 'ambiguous', reason: 'write_stalled' });
    expect(await pty.write(Buffer.from('next'))).toEqual({
      kind: 'nothing_written',
      reason: 'write_stalled',
    });
  });

  test('cannot make us keep more than the limit', async () => {
    await using pty = await spawn(`${raw} exec sleep 60`, {
      limits: { writeStallMs: 150, maxPendingWriteBytes: 100 * 1024 },
    });
    await seen(pty, 'ready');
    const first = pty.write(new Uint8Array(100 * 1024).fill(97));
    const second = await pty.write(new Uint8Array(100 * 1024).fill(97));
    expect(second).toEqual({ kind: 'nothing_written', reason: 'pending_limit' });
    expect((await first).kind).toBe('ambiguous');
  });

  test('that dies meanwhile ends the write', async () => {
    await using pty = await spawn(`${raw} exec sleep 60`);
    await seen(pty, 'ready');
    const large = pty.write(new Uint8Array(200 * 1024).fill(97));
    pty.kill('SIGKILL');
    expect((await large).kind).toBe('ambiguous');
    expect((await pty.write(Buffer.from('x'))).kind).toBe('nothing_written');
  });

  test('once it reads again, everything arrives', async () => {
    await using pty = await spawn(`${raw} sleep 0.3; head -c 204800 | cksum; echo done`);
    await seen(pty, 'ready');
    const output = seen(pty, 'done');
    expect(await pty.write(new Uint8Array(200 * 1024).fill(97))).toEqual({ kind: 'carried_out' });
    expect(await output).toMatch(/ 204800\s/);
  });
});

describe('what cannot be started', () => {
  const plain = join(folder, 'plain.txt');
  writeFileSync(plain, 'no program', { mode: 0o644 });

  test.each([
    ['not_found', { file: 'no-such-program-at-all' }],
    ['not_found', { file: './nowhere' }],
    ['not_found', { file: 'sh', env: { PATH: folder } }],
    ['not_executable', { file: plain }],
    ['not_executable', { file: folder }],
    ['cwd_missing', { cwd: join(folder, 'missing') }],
    ['cwd_missing', { cwd: plain }],
    ['bad_argument', { args: ['a\0b'] }],
    ['bad_argument', { file: '' }],
    ['bad_size', { cols: 0 }],
    ['bad_size', { rows: 1.5 }],
  ])('%s: %j', async (reason, options) => {
    await expect(spawn('true', options)).rejects.toMatchObject({
      code: 'PTY_SPAWN_FAILED',
      details: { reason },
    });
  });

  test('a relative file is looked for from the working directory of the child', async () => {
    writeFileSync(join(folder, 'run'), '#!/bin/sh\necho ran\n', { mode: 0o755 });
    await using pty = await spawn('', { file: './run', args: [] });
    expect(await seen(pty, 'ran')).toContain('ran');
  });
});
