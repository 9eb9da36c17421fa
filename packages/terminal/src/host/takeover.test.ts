import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AgentTerminal } from '../agent-terminal.js';
import { echoing, HostRig, launch, text, until } from '../testing/host-rig.js';
import { connectHost } from './connect-host.js';
import { encodeFrame, type Frame, FrameReader } from './frame.js';
import { readClaims } from './host-place.js';
import { listHosts } from './list-hosts.js';

const coded = (code: string): unknown => expect.objectContaining({ code });

/** What the host sends until it has sent `count` frames or ends. */
async function frames(socket: Socket, count: number): Promise<readonly Frame[]> {
  const found: Frame[] = [];
  const reader = new FrameReader();
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk, (frame) => found.push(frame));
      if (found.length >= count) resolve();
    });
    socket.on('close', () => resolve());
  });
  return found;
}

describe('control of a host', () => {
  test('goes to the newer daemon, and nothing of the older one is carried out', async () => {
    using rig = new HostRig();
    const old = await rig.connect();
    const oldTerminal = await launch(old, echoing);
    await until(oldTerminal, (now) => text(now) === 'ready>');
    const lost = new Promise((resolve) => old.onLost(resolve));
    await using host = await rig.connect();
    expect(host.epoch).toBeGreaterThan(old.epoch);
    expect(await lost).toBe('superseded');
    const token = oldTerminal.writer.acquire();
    expect(await oldTerminal.writer.write(token, 'old')).toEqual({
      kind: 'nothing_written',
      reason: 'pty_closed',
    });
    await expect(oldTerminal.look()).rejects.toEqual(coded('HOST_SUPERSEDED'));
    await expect(old.spawn({ ...spawnable, sessionId: 'b' })).rejects.toEqual(
      coded('HOST_SUPERSEDED'),
    );
    // The older daemon's end is not the child's.
    await oldTerminal.close();
    const terminal = await AgentTerminal.adopt({ adopted: await host.adopt('a') });
    terminal.personInput('new');
    await until(terminal, (now) => text(now) === 'ready>new');
    await terminal.close();
  });

  test('frames that the older daemon had sent are refused behind the takeover', async () => {
    using rig = new HostRig();
    const starter = await rig.connect();
    const terminal = await launch(starter, echoing);
    await until(terminal, (now) => text(now) === 'ready>');
    await starter[Symbol.asyncDispose]();
    const { socket, token } = await rig.raw();
    const greeted = once(socket, 'data');
    const answers = frames(socket, 9);
    socket.write(encodeFrame({ id: 1, do: 'hello', token, observe: false }));
    await greeted;
    await using host = await rig.connect();
    // In the socket before the older one could know.
    socket.write(encodeFrame({ id: 2, do: 'write', channel: 1 }, Buffer.from('late')));
    const heads = (await answers).map(({ head }) => head);
    expect(heads).toMatchObject([{ id: 1 }, { event: 'superseded' }]);
    const again = await AgentTerminal.adopt({ adopted: await host.adopt('a') });
    again.personInput('x');
    await until(again, (now) => text(now) === 'ready>x');
    await again.close();
  });

  test('is refused to an epoch that is not newer', async () => {
    using rig = new HostRig();
    await using host = await rig.connect({ epoch: 7 });
    await expect(rig.connect({ epoch: 7 })).rejects.toEqual(coded('HOST_EPOCH_STALE'));
    expect(host.lost).toBe(null);
    await using next = await rig.connect({ epoch: 8 });
    expect(next.epoch).toBe(8);
  });

  test('two that start at once have one host', async () => {
    using rig = new HostRig();
    const hosts = await Promise.all([rig.connect(), rig.connect(), rig.connect()]);
    expect(new Set(hosts.map(({ pid }) => pid)).size).toBe(1);
    expect(readClaims(rig.dir)).toHaveLength(1);
    for (const host of hosts) await host[Symbol.asyncDispose]();
  });

  test('a dead host is known as dead and replaced', async () => {
    using rig = new HostRig();
    const dead = await rig.connect();
    const gone = new Promise((resolve) => dead.onLost(resolve));
    process.kill(dead.pid, 'SIGKILL');
    await gone;
    const listed = await listHosts(rig.dir);
    expect(listed).toMatchObject([{ hostId: 'main', pid: dead.pid }]);
    await using host = await rig.connect();
    expect(host.pid).not.toBe(dead.pid);
    expect(readdirSync(rig.dir).filter((name) => name.endsWith('.sock'))).toHaveLength(1);
    await expect(
      connectHost({ dir: rig.dir, hostId: 'none', startIfMissing: false }),
    ).rejects.toEqual(coded('HOST_MISSING'));
  });

  test('a host ends behind its last session, and leaves nothing', async () => {
    using rig = new HostRig();
    const host = await rig.connect({ limits: { lingerMs: 50 } });
    const terminal = await launch(host, echoing);
    const lost = new Promise((resolve) => host.onLost(resolve));
    await terminal.close();
    expect(await lost).toBe('ended');
    expect(await listHosts(rig.dir)).toEqual([]);
    const unused = await rig.connect({ limits: { firstSessionGraceMs: 50 } });
    expect(await new Promise((resolve) => unused.onLost(resolve))).toBe('ended');
  });
});

const spawnable = {
  metadata: '',
  file: 'true',
  args: [],
  cwd: '/',
  env: { PATH: process.env['PATH'] ?? '' },
  cols: 80,
  rows: 24,
};

describe('a host refuses', () => {
  test('a wrong token, and what comes without one', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const first = await rig.raw();
    first.socket.write(encodeFrame({ id: 1, do: 'hello', token: 'x'.repeat(72), observe: false }));
    expect((await frames(first.socket, 1))[0]?.head).toMatchObject({
      id: 1,
      error: { code: 'HOST_TOKEN_REFUSED' },
    });
    const second = await rig.raw();
    second.socket.write(encodeFrame({ id: 1, do: 'sessions' }));
    expect((await frames(second.socket, 1))[0]?.head).toMatchObject({
      error: { code: 'HOST_TOKEN_REFUSED' },
    });
    second.socket.destroy();
    expect(await host.sessions()).toEqual([]);
  });

  test('garbage, and works on for the others', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const terminal = await launch(host, echoing);
    const garbage = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from([0, 0, 0, 0]),
      Buffer.from([0xff, 0xff, 0xff, 0xff, 1]),
      Buffer.from([0, 0, 0, 6, 1, 0, 0, 0, 1, 0x7b]),
      Buffer.from([0, 0, 0, 6, 1, 0, 0, 1, 0, 0x7b]),
      Buffer.from([0, 0, 0, 7, 1, 0, 0, 0, 2, 0x5b, 0x5d]),
    ];
    for (const bytes of garbage) {
      const { socket } = await rig.raw();
      socket.resume();
      socket.write(bytes);
      await once(socket, 'close');
    }
    await until(terminal, (now) => text(now) === 'ready>');
    terminal.personInput('fine');
    await until(terminal, (now) => text(now) === 'ready>fine');
    await terminal.close();
  });

  test('kinds and requests of a later time with "unsupported", and goes on', async () => {
    using rig = new HostRig();
    const started = await rig.connect();
    await started[Symbol.asyncDispose]();
    const { socket, token } = await rig.raw();
    const answers = frames(socket, 4);
    const later = encodeFrame({ id: 8, anything: true });
    later[4] = 9;
    socket.write(encodeFrame({ id: 1, do: 'hello', token, observe: false, later: [1] }));
    socket.write(later);
    socket.write(encodeFrame({ id: 2, do: 'dance', channel: 1 }));
    socket.write(encodeFrame({ id: 3, do: 'sessions' }));
    expect((await answers).map(({ head }) => head)).toMatchObject([
      { id: 1, ok: { major: 1 } },
      { event: 'unsupported', kind: 9 },
      { id: 2, error: { code: 'HOST_UNSUPPORTED' } },
      { id: 3, ok: { sessions: [] } },
    ]);
    socket.destroy();
  });

  test('fields that will not do, and changes nothing', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    await expect(
      host.spawn({ ...spawnable, sessionId: 'a', file: '/no/such' }),
    ).rejects.toMatchObject({ code: 'PTY_SPAWN_FAILED', details: { reason: 'not_found' } });
    await expect(host.spawn({ ...spawnable, sessionId: '' })).rejects.toEqual(
      coded('HOST_BAD_REQUEST'),
    );
    await expect(
      host.spawn({ ...spawnable, sessionId: 'a', metadata: 'x'.repeat(300_000) }),
    ).rejects.toEqual(coded('HOST_BAD_REQUEST'));
    await expect(host.adopt('none')).rejects.toEqual(coded('HOST_SESSION_UNKNOWN'));
    const terminal = await launch(host, echoing);
    await expect(host.spawn({ ...spawnable, sessionId: 'a' })).rejects.toEqual(
      coded('HOST_SESSION_EXISTS'),
    );
    await terminal.close();
  });

  test('a name, a directory or a path that is not safe', async () => {
    using rig = new HostRig();
    const start = { hostId: 'main', startIfMissing: true };
    await expect(connectHost({ ...start, dir: rig.dir, hostId: '../x' })).rejects.toEqual(
      coded('HOST_BAD_REQUEST'),
    );
    await expect(connectHost({ ...start, dir: 'relative' })).rejects.toEqual(
      coded('HOST_BAD_REQUEST'),
    );
    const open = join(rig.dir, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    await expect(connectHost({ ...start, dir: open })).rejects.toEqual(coded('HOST_DIR_UNSAFE'));
    writeFileSync(join(rig.dir, 'main.5.host'), 'no claim');
    await using host = await rig.connect();
    const modes = readdirSync(rig.dir)
      .filter((name) => name.startsWith('main.') && name !== 'main.5.host')
      .map((name) => statSync(join(rig.dir, name)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(host.socketPath.startsWith(rig.dir)).toBe(true);
  });

  test.runIf(process.platform === 'linux')('no directory for its length', async () => {
    using rig = new HostRig();
    const dir = join(rig.dir, 'd'.repeat(100), 'e'.repeat(100));
    const host = await connectHost({ dir, hostId: 'main', startIfMissing: true });
    const terminal = await launch(host, echoing);
    await until(terminal, (now) => text(now) === 'ready>');
    expect(readdirSync(dir)).toContain('main.1.sock');
    await terminal.close();
    process.kill(host.pid, 'SIGTERM');
    await new Promise((resolve) => host.onLost(resolve));
  });
});
