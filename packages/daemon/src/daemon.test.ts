import { genericEngines } from '@ostler/engines/generic';
import { systemClock } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { DaemonRig, generous } from './testing/daemon-rig.js';
import { codeOf, RawClient } from './testing/raw-client.js';

const receiptOf = (frame: object): { state: string; input?: { phase: string } } =>
  (frame as { receipt: { state: string; input?: { phase: string } } }).receipt;

describe('a message into an agent', () => {
  test('from a request to its accepted receipt, and once only', async () => {
    await using rig = await DaemonRig.start();
    const client = await rig.client();
    const { agentId, control } = await rig.launch(client, 'one');
    const request = { ...rig.target(agentId), idempotencyKey: 'k1', text: 'hello there' };
    const sent = await client.call('turn.send', request);
    expect(sent).toMatchObject({ type: 'turn.send_result', status: 'accepted' });
    const waited = await client.call('receipt.wait', {
      idempotencyKey: 'k1',
      until: 'accepted',
      timeoutMs: 10_000,
    });
    expect(waited['waitEnded']).toBe('reached');
    expect(receiptOf(waited).input?.phase).toBe('accepted');
    const again = await client.call('turn.send', request);
    expect(again['status']).toBe('duplicate');
    const other = await client.call('turn.send', { ...request, text: 'something else' });
    expect(codeOf(other)).toBe('IDEMPOTENCY_CONFLICT');
    expect(control.received().map(({ text }) => text)).toEqual(['hello there']);
  });

  test('receipts carry input only for those who chose it', async () => {
    await using rig = await DaemonRig.start();
    const client = await rig.client({ capabilities: [] });
    const { agentId } = await rig.launch(client, 'one');
    const sent = await client.call('turn.send', {
      ...rig.target(agentId),
      idempotencyKey: 'k1',
      text: 'hello',
    });
    expect(receiptOf(sent)).not.toHaveProperty('input');
    await client.hello();
    const got = await client.call('receipt.get', { idempotencyKey: 'k1' });
    expect(receiptOf(got)).toHaveProperty('input');
  });
});

describe('a connection', () => {
  test('says hello first, in the protocol that is spoken', async () => {
    await using rig = await DaemonRig.start();
    const client = await rig.raw();
    expect(codeOf(await client.call('agents.list'))).toBe('HELLO_REQUIRED');
    expect(codeOf(await client.call('hello', { proto: 2 }))).toBe('PROTO_UNSUPPORTED');
    const hello = await client.hello({ capabilities: ['input.status.v1', 'nobody.knows.v9'] });
    expect(hello).toMatchObject({ proto: 1, resumed: false, capabilities: ['input.status.v1'] });
  });

  test('is slowed down past its rate, and limited in what may wait', async () => {
    await using rig = await DaemonRig.start({ localLimits: {} });
    const client = await rig.client();
    const codes: (string | null)[] = [];
    for (let count = 0; count < 21; count += 1) codes.push(codeOf(await client.call('focus.get')));
    expect(codes.slice(0, 20)).toEqual(Array(20).fill(null));
    expect(codes[20]).toBe('RATE_LIMITED');
  });

  test('ends at a frame that is too large, which is said', async () => {
    await using rig = await DaemonRig.start();
    const client = await rig.client();
    client.writeBytes(new Uint8Array(65_537).fill(0x20));
    const said = await client.frame(({ type }) => type === 'error');
    expect(codeOf(said)).toBe('PAYLOAD_TOO_LARGE');
    await client.untilEnd();
    expect((await rig.client()).ended).toBe(false);
  });

  test('of a device that has no token is refused, and one that is revoked says so', async () => {
    await using rig = await DaemonRig.start();
    const local = await rig.client();
    const added = await local.call('device.add', { name: 'voice' });
    const token = String(added['token']);
    const device = await rig.raw();
    expect(codeOf(await device.hello({ token }))).toBeNull();
    expect(codeOf(await device.call('device.list'))).toBe('UNSUPPORTED_CAPABILITY');
    const wrong = await rig.raw();
    expect(codeOf(await wrong.hello({ token: `${token}x` }))).toBe('UNAUTHENTICATED');
    await wrong.untilEnd();
    expect(codeOf(await device.call('pair.revoke'))).toBeNull();
    await device.untilEnd();
    const later = await rig.raw();
    expect(codeOf(await later.hello({ token }))).toBe('REVOKED');
  });

  test('a device sees nothing of another', async () => {
    await using rig = await DaemonRig.start();
    const local = await rig.client();
    const { agentId } = await rig.launch(local, 'one');
    const tokens: string[] = [];
    for (const name of ['a', 'b']) {
      tokens.push(String((await local.call('device.add', { name }))['token']));
    }
    const a = await rig.client({ token: tokens[0] });
    const b = await rig.client({ token: tokens[1] });
    const send = { ...rig.target(agentId), idempotencyKey: 'same', text: 'from a' };
    expect((await a.call('turn.send', send))['status']).toBe('accepted');
    expect((await b.call('receipt.get', { idempotencyKey: 'same' }))['receipt']).toBeNull();
    const mine = await b.call('turn.send', { ...send, text: 'from b' });
    expect(mine['status']).toBe('accepted');
    await a.call('receipt.wait', { idempotencyKey: 'same', until: 'accepted', timeoutMs: 10_000 });
    const seenByB = b.frames.filter((frame) => frame['kind'] === 'receipt.updated');
    expect(seenByB.length).toBeGreaterThan(0);
    for (const frame of seenByB) {
      const { receipt } = frame['payload'] as { receipt: { deliveryId: string } };
      expect(receipt.deliveryId).toBe((mine['receipt'] as { deliveryId: string }).deliveryId);
    }
  });
});

test('as many unresolved receipts as a device may have: the next is BACKPRESSURE', async () => {
  await using rig = await DaemonRig.start({ maxReceiptsPerDevice: 2 });
  const client = await rig.client();
  const { agentId } = await rig.launch(client, 'one', { turns: [{ until: 'never' }] });
  const send = (key: string) =>
    client.call('turn.send', { ...rig.target(agentId), idempotencyKey: key, text: `text ${key}` });
  expect([await send('a'), await send('b')]).toMatchObject([
    { status: 'accepted' },
    { status: 'accepted' },
  ]);
  expect(codeOf(await send('c'))).toBe('BACKPRESSURE');
  expect((await send('a'))['status']).toBe('duplicate');
});

describe('events', () => {
  test('are sent again from a cursor, across a restart too', async () => {
    await using rig = await DaemonRig.start();
    const client = await rig.client();
    const { agentId } = await rig.launch(client, 'one');
    const hello = await client.hello();
    const resume = { serverInstanceId: hello['serverInstanceId'], cursor: hello['cursor'] };
    await client.call('focus.set', rig.target(agentId));
    const again = await rig.raw();
    expect(await again.hello({ resume })).toMatchObject({ resumed: true });
    await again.frame((frame) => frame['kind'] === 'focus.changed');
    await rig.restart();
    const later = await rig.raw();
    expect(await later.hello({ resume })).toMatchObject({ resumed: true });
    await later.frame((frame) => frame['kind'] === 'focus.changed');
    const lost = await rig.raw();
    await lost.hello({ resume: { serverInstanceId: 'nobody', cursor: 3 } });
    expect(await lost.frame(({ type }) => type === 'resync')).toMatchObject({
      reason: 'instance_changed',
    });
  });
});

test('a screen larger than a frame is shown from below, in one frame', async () => {
  await using rig = await DaemonRig.start({ engines: genericEngines });
  const client = await rig.client();
  const launched = await client.call('agent.launch', {
    name: 'wide',
    engine: 'generic',
    command: '/bin/sh',
    args: [
      '-c',
      'i=0; while [ $i -lt 400 ]; do i=$((i+1)); printf "%0480d\\n" $i; done; printf end; exec cat',
    ],
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color' },
    cleanEnv: true,
    cols: 500,
    rows: 300,
  });
  expect(codeOf(launched), JSON.stringify(launched)).toBeNull();
  const target = rig.target(String(launched['agentId']));
  let screen = await client.call('agent.screen', target);
  const deadlineMs = systemClock.monotonicMs() + 20_000;
  while ((screen['rows'] as string[]).at(-1)?.startsWith('end') !== true) {
    expect(systemClock.monotonicMs(), JSON.stringify(screen).slice(0, 300)).toBeLessThan(
      deadlineMs,
    );
    screen = await client.call('agent.screen', target);
  }
  const rows = screen['rows'] as readonly string[];
  expect(rows.at(-2)).toBe('400'.padStart(480, '0'));
  expect(screen['firstRow']).toBe(300 - rows.length);
  expect(screen['firstRow']).toBeGreaterThan(0);
  expect(Buffer.byteLength(JSON.stringify(screen))).toBeLessThanOrEqual(65_536);
});

describe('a new daemon', () => {
  test('goes on with the agents of the one before', async () => {
    await using rig = await DaemonRig.start();
    const client = await rig.client();
    const { agentId, control } = await rig.launch(client, 'one');
    const before = await client.call('agent.screen', rig.target(agentId));
    await client.call('turn.send', {
      ...rig.target(agentId),
      idempotencyKey: 'first',
      text: 'before the restart',
    });
    await client.call('receipt.wait', {
      idempotencyKey: 'first',
      until: 'started',
      timeoutMs: 10_000,
    });
    await rig.restart();
    const next = await rig.client();
    const list = await next.call('agents.list');
    expect(list['agents']).toMatchObject([{ agentId, name: 'one', engine: 'simulated' }]);
    const after = await next.call('agent.screen', rig.target(agentId));
    expect((after['rows'] as string[]).length).toBe((before['rows'] as string[]).length);
    await next.call('turn.send', {
      ...rig.target(agentId),
      idempotencyKey: 'second',
      text: 'after the restart',
    });
    const waited = await next.call('receipt.wait', {
      idempotencyKey: 'second',
      until: 'started',
      timeoutMs: 10_000,
    });
    expect(waited['waitEnded']).toBe('reached');
    expect(control.received().map(({ text }) => text)).toEqual([
      'before the restart',
      'after the restart',
    ]);
  });

  test('serves while a host keeps it waiting: receipts at once, agents when they are there', async () => {
    await using rig = await DaemonRig.start();
    const before = await rig.client();
    const { agentId } = await rig.launch(before, 'one');
    const { hosts } = (await before.call('server.status')) as unknown as {
      hosts: readonly { pid: number }[];
    };
    const pid = hosts[0]?.pid ?? 0;
    await rig.daemon.release();
    process.kill(pid, 'SIGSTOP');
    try {
      await rig.open();
      const client = await rig.client();
      let listed = false;
      const list = client.call('agents.list').finally(() => (listed = true));
      expect(await client.call('receipt.get', { idempotencyKey: 'k' })).toMatchObject({
        receipt: null,
      });
      expect(listed).toBe(false);
      process.kill(pid, 'SIGCONT');
      expect(await list).toMatchObject({ agents: [{ agentId, name: 'one' }] });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('does not start beside one that runs', async () => {
    await using rig = await DaemonRig.start();
    await expect(rig.open()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    const client = await RawClient.local(rig.daemon.socketPath);
    client[Symbol.dispose]();
  });
});

test('a request is answered by what its first fault is', async () => {
  await using rig = await DaemonRig.start({ localLimits: generous });
  const client = await rig.client();
  const fine = { ...rig.target('nobody'), idempotencyKey: 'k', text: 'hi' };
  expect(codeOf(await client.call('turn.send', fine))).toBe('NO_AGENTS');
  await rig.launch(client, 'one');
  expect(codeOf(await client.call('turn.send', fine))).toBe('AGENT_NOT_FOUND');
  const focused = { ...fine, focusRevision: 1 };
  expect(codeOf(await client.call('turn.send', focused))).toBe('FOCUS_UNAVAILABLE');
  expect(codeOf(await client.call('turn.send', { ...focused, idempotencyKey: '' }))).toBe(
    'INVALID_REQUEST',
  );
  expect(codeOf(await client.call('nothing.known'))).toBe('UNSUPPORTED_CAPABILITY');
});
