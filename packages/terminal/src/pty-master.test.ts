import type { IPty } from 'node-pty';
import { expect, test } from 'vitest';
import { InProcessPty } from './in-process-pty.js';
import { openMaster } from './pty-master.js';

test('the pinned node-pty has the descriptor and the stream we need', async () => {
  const { spawn } = await import('node-pty');
  const pty = spawn('/bin/cat', [], { cwd: '/', env: {}, encoding: null });
  const ended = new Promise((resolve) => pty.onExit(resolve));
  const master = openMaster(pty);
  expect(master).not.toBeNull();
  expect(master?.take(Buffer.from('x'))).toBe(1);
  pty.kill('SIGKILL');
  await ended;
  expect(master?.take(Buffer.from('x'))).toEqual({ failed: 'pty_closed' });
  expect(master?.read(10)).toBeNull();
});

test('without them a write is handed to node-pty and claims nothing', async () => {
  const written: string[] = [];
  const pty = {
    pid: process.pid,
    onData: () => ({ dispose: () => undefined }),
    onExit: () => ({ dispose: () => undefined }),
    write: (data: Buffer) => void written.push(data.toString()),
  } as unknown as IPty;
  const endpoint = new InProcessPty(pty, {});
  expect(await endpoint.write(Buffer.from('hi'))).toEqual({
    kind: 'ambiguous',
    reason: 'unproven_write',
  });
  expect(await endpoint.write(Buffer.from('no'), () => false)).toEqual({
    kind: 'nothing_written',
    reason: 'stale_token',
  });
  expect(written).toEqual(['hi']);
});
