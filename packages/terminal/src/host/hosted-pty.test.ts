import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, VirtualClock } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { AgentTerminal } from '../agent-terminal.js';
import { isSameProcess } from '../process-identity.js';
import { echoing, HostRig, launch, shell, text, until } from '../testing/host-rig.js';

describe('a child in a host', () => {
  test('takes writes, shows output, tells its exit, and is forgotten', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const pty = await host.spawn(shell(`stty raw -echo; printf 'ready>'; head -c 5; exit 7`));
    const terminal = new AgentTerminal({ endpoint: pty });
    await until(terminal, (now) => text(now) === 'ready>');
    expect(await pty.write(Buffer.from('hello'))).toEqual({ kind: 'carried_out' });
    await new Promise<void>((resolve) => terminal.onExit(() => resolve()));
    expect(text(await terminal.look())).toBe('ready>hello');
    expect(terminal.exit).toMatchObject({ exitCode: 7, signal: null });
    expect(await pty.write(Buffer.from('x'))).toEqual({
      kind: 'nothing_written',
      reason: 'pty_closed',
    });
    expect(await host.sessions()).toMatchObject([{ sessionId: 'a', exit: { exitCode: 7 } }]);
    await terminal.close();
    expect(await host.sessions()).toEqual([]);
  });

  test('a look shows what the kernel held when it was asked for', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const terminal = await launch(host, echoing);
    await until(terminal, (now) => text(now) === 'ready>');
    let expected = 'ready>';
    for (const key of 'abcdef') {
      terminal.personInput(key);
      expected += key;
      await until(terminal, (now) => text(now) === expected);
    }
    await terminal.close();
  });

  test('a look at a child that never pauses is not kept waiting', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const terminal = await launch(host, 'exec yes');
    await until(terminal, (now) => text(now).startsWith('y\ny'));
    for (let count = 0; count < 5; count += 1) {
      expect((await terminal.look()).rows[0]?.text).toMatch(/^y?$/);
    }
    await terminal.close();
  });

  test('output lost while the child is ended, or let go of, asks for no size any more', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const clock = new VirtualClock();
    const { cols, rows, ...loss } = { cols: 80, rows: 24, sizeSeq: 0, lost: 5, modes: '' };
    for (const sessionId of ['closed', 'released'] as const) {
      const pty = await host.spawn({ ...shell(echoing), sessionId });
      const terminal = new AgentTerminal({ endpoint: pty, clock });
      const lost = (): void => {
        const head = { event: 'lost', ...loss, cols, rows, offset: pty.offset };
        pty.take({ kind: 1, head, body: new Uint8Array() });
      };
      lost();
      const over = sessionId === 'closed' ? terminal.close() : pty.release();
      expect(lost).not.toThrow();
      clock.advance(2_000);
      await over;
      if (sessionId === 'released') await terminal.release();
    }
    expect(host.lost).toBeNull();
  });

  test.each([
    ['as it comes', () => Promise.resolve()],
    [
      'from before there was a listener',
      () => new Promise<void>((resolve) => void systemClock.setTimer(300, resolve)),
    ],
  ])('a session that can not take its output %s is let go of alone', async (_, settled) => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const broken = await host.spawn({ ...shell(echoing), sessionId: 'broken' });
    await settled();
    const failed = new Promise<void>((resolve) => {
      broken.onData(() => {
        resolve();
        throw new Error('a listener that fails');
      });
    });
    await failed;
    const other = await launch(host, echoing, 'other');
    await until(other, (now) => text(now) === 'ready>');
    expect(host.lost).toBeNull();
    expect(await broken.write(Buffer.from('x'))).toEqual({
      kind: 'nothing_written',
      reason: 'host_lost',
    });
    await expect(broken.sync()).rejects.toMatchObject({ code: 'HOST_LOST' });
    await broken.close();
    expect(isSameProcess(broken.identity)).toBe(false);
    await other.close();
  });

  test('a resize takes its place in the stream', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const terminal = await launch(
      host,
      `trap 'stty size' WINCH; printf ready; while :; do read x; done`,
    );
    await until(terminal, (now) => text(now) === 'ready');
    terminal.resize(60, 10);
    const snapshot = await until(terminal, (now) => text(now).includes('10 60'));
    expect([snapshot.cols, snapshot.rows.length, terminal.cols, terminal.rows]).toEqual([
      60, 10, 60, 10,
    ]);
    expect(() => terminal.resize(0, 10)).toThrow(expect.objectContaining({ code: 'PTY_BAD_SIZE' }));
    await terminal.close();
  });

  test('the lease is asked right before the bytes leave', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const pty = await host.spawn(shell(echoing));
    const terminal = new AgentTerminal({ endpoint: pty });
    await until(terminal, (now) => text(now) === 'ready>');
    let may = true;
    const first = pty.write(Buffer.from('one'), () => true);
    const second = pty.write(Buffer.from('two'), () => may);
    may = false;
    expect(await first).toEqual({ kind: 'carried_out' });
    expect(await second).toEqual({ kind: 'nothing_written', reason: 'stale_token' });
    await until(terminal, (now) => text(now) === 'ready>one');
    await terminal.close();
  });

  test('a child that reads nothing holds up nobody else', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const limits = { writeStallMs: 200 };
    const stalled = await host.spawn({
      ...shell(`stty raw -echo; printf ready; exec sleep 1000`, 'stalled'),
      limits,
    });
    const still = new AgentTerminal({ endpoint: stalled });
    await until(still, (now) => text(now) === 'ready');
    const lively = await launch(host, echoing, 'lively');
    await until(lively, (now) => text(now) === 'ready>');
    const big = stalled.write(Buffer.alloc(200 * 1024, 'x'));
    lively.personInput('on');
    await until(lively, (now) => text(now) === 'ready>on');
    expect(await big).toEqual({ kind: 'ambiguous', reason: 'write_stalled' });
    expect(await stalled.write(Buffer.alloc(2 * 1024 * 1024))).toEqual({
      kind: 'nothing_written',
      reason: 'pending_limit',
    });
    await Promise.all([still.close(), lively.close()]);
  });

  test('a daemon that takes no output holds up nobody', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const flag = join(rig.dir, 'flag');
    spawnSync('mkfifo', [flag]);
    const script = `head -c 3000000 /dev/zero | tr '\\0' x; printf end > "$1"; exec sleep 1000`;
    const pty = await host.spawn({ ...shell(script), args: ['-c', script, 'sh', flag] });
    const lively = await launch(host, echoing, 'lively');
    await until(lively, (now) => text(now) === 'ready>');
    // Nobody listens to the first: its log runs over, and it has written all.
    expect(await readFile(flag, 'utf8')).toBe('end');
    let lostBytes = 0;
    pty.onOutputLost((lost) => {
      lostBytes += lost.lostBytes;
    });
    const terminal = new AgentTerminal({ endpoint: pty });
    await until(terminal, () => pty.offset === 3_000_000);
    expect(lostBytes).toBeGreaterThan(1_000_000);
    expect(terminal.screenCertain).toBe(false);
    await until(terminal, (now) => text(now).endsWith('xxxx'));
    await Promise.all([terminal.close(), lively.close()]);
  });

  test('ten at once each have their own output', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
    const terminals = await Promise.all(names.map((name) => launch(host, echoing, name)));
    await Promise.all(
      terminals.map(async (terminal, index) => {
        await until(terminal, (now) => text(now) === 'ready>');
        terminal.personInput(`it is ${index}`);
        await until(terminal, (now) => text(now) === `ready>it is ${index}`);
      }),
    );
    expect((await host.sessions()).map(({ sessionId }) => sessionId)).toEqual(names);
    await Promise.all(terminals.map((terminal) => terminal.close()));
    expect(await host.sessions()).toEqual([]);
  });

  test('has gone when its host is killed, and that is noticed', async () => {
    using rig = new HostRig();
    const host = await rig.connect();
    const pty = await host.spawn(shell(echoing));
    const terminal = new AgentTerminal({ endpoint: pty });
    await until(terminal, (now) => text(now) === 'ready>');
    const lost = new Promise((resolve) => host.onLost(resolve));
    const exit = new Promise((resolve) => terminal.onExit(resolve));
    process.kill(host.pid, 'SIGKILL');
    expect(await lost).toBe('broken');
    expect(await exit).toMatchObject({ exitCode: null, signal: null });
    expect(isSameProcess(pty.identity)).toBe(false);
    expect(await pty.write(Buffer.from('x'))).toMatchObject({ kind: 'nothing_written' });
    await terminal.close();
    await using next = await rig.connect();
    expect(next.pid).not.toBe(host.pid);
    expect(await next.sessions()).toEqual([]);
  });

  test('a write on its way when the connection ends is in doubt', async () => {
    using rig = new HostRig();
    const host = await rig.connect();
    const pty = await host.spawn(shell(`stty raw -echo; printf ready; exec sleep 1000`));
    const terminal = new AgentTerminal({ endpoint: pty });
    await until(terminal, (now) => text(now) === 'ready');
    const outcome = pty.write(Buffer.alloc(200 * 1024, 'x'));
    const behind = pty.write(Buffer.from('y'));
    await pty.sync();
    process.kill(host.pid, 'SIGKILL');
    expect(await outcome).toEqual({ kind: 'ambiguous', reason: 'host_lost' });
    expect(await behind).toMatchObject({ kind: 'nothing_written' });
    await terminal.close();
  });

  test('half a frame of a daemon that died writes nothing', async () => {
    using rig = new HostRig();
    const host = await rig.connect();
    const pty = await host.spawn(shell(echoing));
    const terminal = new AgentTerminal({ endpoint: pty });
    await until(terminal, (now) => text(now) === 'ready>');
    await terminal.release();
    await host[Symbol.asyncDispose]();
    const { encodeFrame } = await import('./frame.js');
    const { socket, token } = await rig.raw();
    socket.write(encodeFrame({ id: 1, do: 'hello', token, observe: false }));
    await once(socket, 'data');
    const frame = encodeFrame({ id: 2, do: 'write', channel: 1 }, Buffer.alloc(9_000, 'p'));
    socket.write(frame.subarray(0, 5_000), () => socket.destroy());
    await once(socket, 'close');
    await using next = await rig.connect();
    const adopted = await next.adopt('a');
    const again = await AgentTerminal.adopt({ adopted });
    again.personInput('whole');
    await until(again, (now) => text(now) === 'ready>whole');
    await again.close();
  });
});
