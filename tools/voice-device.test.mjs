import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { root } from './root.mjs';
import { deviceProgram, hasPython, Rig } from './voice-device-rig.mjs';

const run = promisify(execFile);
const patience = { timeout: 90_000 };
const soon = { timeout: 20_000 };
const quick = { turns: [{ forMs: 300, answer: 'Four files.' }] };
const request = ['--utterance', 'first', 'List the files.'];
const tls = [
  ...['--tls-cert', 'packages/daemon/conformance/localhost-cert.pem'],
  ...['--tls-key', 'packages/daemon/conformance/localhost-key.pem'],
];

async function rigOf(kind, script, flags) {
  const rig = new Rig(kind, flags);
  onTestFinished(() => rig.close());
  await rig.start();
  await rig.agent(script);
  return rig;
}

describe.skipIf(!hasPython())('the Python device', () => {
  test('takes every stream as it has to', async () => {
    const args = [deviceProgram, '--check-fixtures', 'fixtures/turn-correlation-v2'];
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run('python3', args, { cwd: root, env });
    expect(stdout.trim().split('\n')).toHaveLength(8);
  });

  describe.each(['unix', 'ws'])('over %s', (kind) => {
    test('speaks one answer for two requests', patience, async () => {
      const turns = [{ text: 'List', forMs: 1_500, answer: 'Four files.' }, { answer: 'Done.' }];
      const rig = await rigOf(kind, { turns, boundaryMs: 200 });
      const device = rig.device('List the files.', 'And count them.');
      expect(await device.ended).toBe(0);
      expect(device.says()).toHaveLength(1);
      expect(device.lines.filter((line) => line.includes('completed'))).toHaveLength(2);
      expect(device.lines.join('\n')).toContain('steering accepted');
    });

    test(
      'asks, and does not send again, when the daemon dies before its answer',
      patience,
      async () => {
        const rig = await rigOf(kind, { turns: [{ forMs: 2_000, answer: 'Four files.' }] });
        rig.relay.lose = 'answers';
        const device = rig.device(...request);
        await rig.relay.next('lost');
        await expect.poll(() => rig.submitted(), soon).toEqual(['List the files.']);
        await rig.killDaemon();
        rig.relay.lose = 'nothing';
        await rig.up();
        expect(await device.ended).toBe(0);
        expect(device.says()).toEqual(['says: Four files.']);
        expect(rig.submitted()).toEqual(['List the files.']);
        // Over a WebSocket it is masked.
        if (kind === 'unix') expect(rig.relay.sends()).toBe(1);
      },
    );

    test('sends what a lost request proves not to have sent, once', patience, async () => {
      const rig = await rigOf(kind, quick);
      rig.relay.lose = 'requests';
      const killed = rig.device(...request);
      await rig.relay.next('lost');
      await killed.kill();
      rig.relay.lose = 'nothing';
      const device = rig.device(...request);
      expect(await device.ended).toBe(0);
      expect(device.says()).toEqual(['says: Four files.']);
      expect(await rig.device(...request).ended).toBe(0);
      expect(rig.submitted()).toEqual(['List the files.']);
    });
  });

  test('killed between its key and its request, goes on with the same key', patience, async () => {
    const rig = await rigOf('unix', quick);
    rig.relay.lose = 'everything';
    const killed = rig.device(...request);
    await rig.relay.next('lost');
    await killed.kill();
    rig.relay.lose = 'nothing';
    const device = rig.device();
    expect(await device.ended).toBe(0);
    expect(device.says()).toEqual(['says: Four files.']);
    expect(rig.submitted()).toEqual(['List the files.']);
  });

  test('killed behind the request, takes the answer it missed', patience, async () => {
    const rig = await rigOf('unix', quick);
    rig.relay.lose = 'answers';
    const killed = rig.device(...request);
    await expect.poll(() => existsSync(rig.truth) && rig.submitted().length, soon).toBe(1);
    await killed.kill();
    rig.relay.lose = 'nothing';
    const device = rig.device();
    expect(await device.ended).toBe(0);
    expect(device.says()).toEqual(['says: Four files.']);
    expect(rig.submitted()).toEqual(['List the files.']);
  });

  test('speaks to a daemon whose certificate it trusts, and to no other', patience, async () => {
    const rig = await rigOf('wss', quick, [...tls]);
    const wary = rig.device(...request);
    expect(await wary.ended).toBe(2);
    expect(wary.lines.join()).toContain('certificate');
    const device = rig.device('--ca', tls[1]);
    expect(await device.ended).toBe(0);
    expect(device.says()).toEqual(['says: Four files.']);
  });

  test('cut off while it speaks, does not say that answer again', patience, async () => {
    const rig = await rigOf('unix', quick);
    const heard = join(rig.stateDir, 'heard');
    const speak = ['--speak', `sh -c 'cat >> "${heard}"; exec sleep 6'`];
    const killed = rig.device(...request, ...speak);
    await expect
      .poll(() => existsSync(heard) && readFileSync(heard, 'utf8'), soon)
      .toBe('Four files.');
    await killed.kill();
    const device = rig.device(...speak);
    expect(await device.ended).toBe(0);
    expect(device.lines.join()).toContain('may not have been heard: Four files.');
    expect(readFileSync(heard, 'utf8')).toBe('Four files.');
  });

  test('tells a doubt, goes on watching, and hears what was proven', patience, async () => {
    const opened = { when: { on: 'paste' }, actions: [{ do: 'open', dialog: 'permission' }] };
    const closed = { when: { on: 'release', name: 'no' }, actions: [{ do: 'close' }] };
    const script = {
      plan: [opened, { ...opened, afterMs: 2_500, actions: [{ do: 'close' }] }, closed],
    };
    const rig = await rigOf('unix', script);
    const device = rig.device(...request);
    expect(await device.ended).toBe(3);
    const told = device.lines.filter((line) => line.startsWith('tells: '));
    expect(told[0]).toContain("it can't be told now (enter_withheld:permission)");
    expect(told[1]).toContain('nothing was submitted');
    expect(rig.submitted()).toEqual([]);
  });

  test('keeps what it could not send, for the next time', patience, async () => {
    const rig = await rigOf('unix', quick);
    await rig.killDaemon();
    const early = rig.device(...request, '--give-up-seconds', '0.5');
    expect(await early.ended).toBe(4);
    await rig.up();
    const device = rig.device();
    expect(await device.ended).toBe(0);
    expect(rig.submitted()).toEqual(['List the files.']);
  });
});

describe.skipIf(!hasPython())("the Python device's WebSocket", () => {
  const text = (first, data) =>
    Buffer.concat([Buffer.from([first, data.length]), Buffer.from(data)]);
  const large = Buffer.alloc(10);
  large.set([0x81, 127]);
  large.writeUInt32BE(70_000, 6);

  test.each([
    [
      'pieces, a ping between them',
      [text(0x01, 'two '), text(0x89, 'beat'), text(0x80, 'halves')],
      "'two halves'",
    ],
    ['a message that is too large', [large], 'larger than 64 KiB'],
    [
      'pieces that are too large together',
      [text(0x01, 'a'), large.with(0, 0x80)],
      'larger than 64 KiB',
    ],
    ['a masked frame', [Buffer.from([0x81, 0x81, 0, 0, 0, 0, 65])], 'no server may send'],
    [
      'a close',
      [Buffer.concat([Buffer.from([0x88, 2]), Buffer.from([3, 240])])],
      'closed the connection (1008)',
    ],
    ['a continuation of nothing', [text(0x80, 'a')], 'mixed up'],
    ['half a frame and then nothing', [Buffer.from([0x81, 5, 65])], 'None'],
    ['no UTF-8', [Buffer.from([0x81, 1, 0xff])], 'no UTF-8'],
  ])('%s', async (_, frames, expected) => {
    let heard = Buffer.alloc(0);
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        const [, key] = /Sec-WebSocket-Key: (\S+)/.exec(head.toString());
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
        const answer =
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
        socket.write(`${answer}Sec-WebSocket-Accept: ${accept.digest('base64')}\r\n\r\n`);
        socket.on('data', (data) => {
          heard = Buffer.concat([heard, data]);
        });
        for (const frame of frames) socket.write(frame);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const program = [
      'import sys',
      'from transport import connect',
      'from stream import Lost',
      `link = connect("ws://127.0.0.1:${server.address().port}", "token")`,
      'try: print(repr(link.receive(1)))',
      'except Lost as lost: print(lost)',
    ].join('\n');
    const env = {
      ...process.env,
      PYTHONPATH: join(root, deviceProgram),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const { stdout } = await run('python3', ['-c', program], { env });
    server.close();
    expect(stdout).toContain(expected);
    // The pong is masked, and has the ping's four bytes.
    if (frames.length === 3) expect([heard[0], heard[1], heard.length]).toEqual([0x8a, 0x84, 10]);
  });
});
