import { createConnection, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { randomIds } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { DaemonRig } from './testing/daemon-rig.js';
import { codeOf, RawClient } from './testing/raw-client.js';

const loopback = { listen: { host: '127.0.0.1', port: 0 } } as const;

/** Opens a WebSocket as told and says how it ended, or what it first heard. */
function knock(
  url: string,
  options: { readonly headers?: Record<string, string>; readonly say?: string } = {},
): Promise<{ readonly status?: number; readonly heard?: string; readonly closed?: number }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { headers: options.headers ?? {} });
    socket.on('unexpected-response', (_request, response) => {
      resolve({ status: response.statusCode ?? 0 });
      response.destroy();
    });
    socket.on('open', () => {
      if (options.say !== undefined) socket.send(options.say);
    });
    socket.on('message', (data) => {
      resolve({ heard: String(data) });
      socket.terminate();
    });
    socket.on('close', (code) => resolve({ closed: code }));
    socket.on('error', () => undefined);
  });
}

/** Whatever else the socket tells. */
function heard(socket: Socket, event: 'close' | 'end' | 'readable'): Promise<void> {
  return new Promise((resolve) => void socket.once(event, resolve));
}

const helloFrame = (token?: string): string =>
  JSON.stringify({
    type: 'hello',
    requestId: randomIds.uuid(),
    proto: 1,
    ...(token === undefined ? {} : { token }),
  });

test('a WebSocket names our host, comes from no page we do not know, and brings a token', async () => {
  await using rig = await DaemonRig.start(loopback);
  const url = rig.daemon.listenAddress ?? '';
  const token = String((await (await rig.client()).call('device.add', { name: 'voice' }))['token']);
  const own = await knock(url, {
    headers: { authorization: `Bearer ${token}` },
    say: helloFrame(),
  });
  expect(JSON.parse(own.heard ?? '{}')).toMatchObject({ type: 'hello_result', proto: 1 });
  expect(await knock(url, { headers: { host: 'evil.example' } })).toMatchObject({ status: 403 });
  expect(await knock(url, { headers: { origin: 'https://evil.example' } })).toMatchObject({
    status: 403,
  });
  const none = await knock(url, { say: helloFrame() });
  expect(codeOf(JSON.parse(none.heard ?? '{}'))).toBe('UNAUTHENTICATED');
});

test('over TLS too, what was said comes before the end', async () => {
  const certPath = fileURLToPath(new URL('../conformance/localhost-cert.pem', import.meta.url));
  const keyPath = fileURLToPath(new URL('../conformance/localhost-key.pem', import.meta.url));
  await using rig = await DaemonRig.start({
    listen: { ...loopback.listen, tls: { certPath, keyPath } },
  });
  const socket = new WebSocket(rig.daemon.listenAddress ?? '', { rejectUnauthorized: false });
  socket.on('open', () => socket.send(helloFrame('nobody’s')));
  const said: (string | number)[] = [];
  socket.on('message', (data) => said.push(codeOf(JSON.parse(String(data))) ?? 'none'));
  await new Promise<void>((resolve) => {
    socket.on('close', (code) => {
      said.push(code);
      resolve();
    });
  });
  expect(said).toEqual(['UNAUTHENTICATED', 1008]);
});

test('whoever guesses tokens is shut out for a while, and others are not', async () => {
  await using rig = await DaemonRig.start({ ...loopback, limits: { maxWrongTokens: 3 } });
  const url = rig.daemon.listenAddress ?? '';
  for (let count = 0; count < 3; count += 1) {
    const { heard } = await knock(url, { say: helloFrame(`guess-${count}`) });
    expect(codeOf(JSON.parse(heard ?? '{}'))).toBe('UNAUTHENTICATED');
  }
  expect(await knock(url, { say: helloFrame('guess-4') })).toMatchObject({ status: 429 });
  const status = await (await rig.client()).call('server.status');
  expect(status['metrics']).toMatchObject({ wrong_tokens: 3 });
});

test('a refused peer that breaks off, or never ends its side, leaves the daemon as it was', async () => {
  await using rig = await DaemonRig.start(loopback);
  const { port } = new URL(rig.daemon.listenAddress ?? '');
  const knocks = Array.from({ length: 100 }, async (_, count) => {
    const socket = createConnection({ port: Number(port), allowHalfOpen: true });
    socket.on('error', () => undefined);
    const gone = heard(socket, count % 2 === 0 ? 'close' : 'end');
    socket.resume();
    socket.write(
      'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      () => {
        if (count % 2 === 0) socket.resetAndDestroy();
      },
    );
    await gone;
    return socket;
  });
  for (const socket of await Promise.all(knocks)) {
    // Ours was the last open side: nobody there takes another byte.
    if (!socket.destroyed) {
      const closed = heard(socket, 'close');
      const write = (): void =>
        void (socket.destroyed || socket.write('x', () => setImmediate(write)));
      write();
      await closed;
    }
  }
  expect(codeOf(await (await rig.client()).call('agents.list'))).toBeNull();
});

test('whoever pings and reads no answer is not kept', { timeout: 30_000 }, async () => {
  await using rig = await DaemonRig.start(loopback);
  const { host, port } = new URL(rig.daemon.listenAddress ?? '');
  const socket = createConnection({ port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await heard(socket, 'readable');
  const closed = heard(socket, 'close');
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125, 'x')]);
  const flood = Buffer.concat(Array.from({ length: 500 }, () => ping));
  let sentBytes = 0;
  const more = (): void => {
    sentBytes += flood.length;
    if (!socket.destroyed && sentBytes < 64 * 1024 * 1024)
      socket.write(flood, () => setImmediate(more));
  };
  more();
  await closed;
  expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
});

test('beyond loopback there is no plaintext', async () => {
  await expect(DaemonRig.start({ listen: { host: '0.0.0.0', port: 0 } })).rejects.toMatchObject({
    code: 'LISTEN_NEEDS_TLS',
  });
});

test('a frame of a megabyte, half a frame and a peer that goes: the others are served', async () => {
  await using rig = await DaemonRig.start();
  const large = await rig.client();
  large.writeBytes(new Uint8Array(1024 * 1024).fill(0x61));
  await large.untilEnd();
  const half = await rig.client();
  half.writeBytes(Buffer.from('{"type":"agents.l'));
  half[Symbol.dispose]();
  const dark = await rig.raw();
  dark[Symbol.dispose]();
  const other = await rig.client();
  expect(codeOf(await other.call('agents.list'))).toBeNull();
});

test('a peer that says no hello is not kept', async () => {
  await using rig = await DaemonRig.start({ limits: { helloDeadlineMs: 50 } });
  const silent = await rig.raw();
  await silent.untilEnd();
});

test('a peer that reads nothing ends, and keeps nobody else waiting', async () => {
  await using rig = await DaemonRig.start({ limits: { maxUnsentBytes: 64 * 1024 } });
  const slow = await rig.client();
  slow.pause();
  const other = await rig.client();
  for (;;) {
    const status = await other.call('server.status');
    const { slow_consumers: slowOnes = 0 } = status['metrics'] as Record<string, number>;
    if (slowOnes > 0) break;
    // Each is answered with a list of them all, which nobody takes.
    slow.write(JSON.stringify({ type: 'device.list', requestId: randomIds.uuid() }));
    for (let count = 0; count < 50; count += 1) {
      slow.write(JSON.stringify({ type: 'server.status', requestId: randomIds.uuid() }));
    }
  }
  slow.resume();
  await slow.untilEnd();
});

test('10,000 connections one after another leave nothing behind', {
  timeout: 120_000,
}, async () => {
  await using rig = await DaemonRig.start();
  const path = rig.daemon.socketPath;
  for (let count = 0; count < 10_000; count += 1) {
    const client = await RawClient.local(path);
    client[Symbol.dispose]();
  }
  const last = await rig.client();
  for (;;) {
    const status = await last.call('server.status');
    if (status['connections'] === 1) break;
  }
});

test('more connections than allowed are refused, and room made by one that goes is used', async () => {
  await using rig = await DaemonRig.start({ limits: { maxConnections: 2 } });
  const first = await rig.client();
  await rig.client();
  const third = await new Promise<string>((resolve) => {
    const socket = createConnection(rig.daemon.socketPath);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve('closed'));
  });
  expect(third).toBe('closed');
  first[Symbol.dispose]();
  for (;;) {
    const client = await RawClient.connect(rig.daemon.socketPath);
    const hello = await client.hello().catch(() => null);
    client[Symbol.dispose]();
    if (hello) break;
  }
});
