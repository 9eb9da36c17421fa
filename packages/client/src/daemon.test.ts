import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { beforeAllEvents } from './cursor.js';
import { ResultFollower } from './follow-results.js';
import { MemoryInboxStorage } from './memory-inbox-storage.js';
import { connectLocal, connectRemote } from './node/index.js';
import { type InboxEffect, ResultInbox } from './result-inbox.js';
import { DaemonRig } from './testing/daemon-rig.js';

const quick = { firstDelayMs: 20 };

describe('with a daemon', () => {
  test('a message is sent, waited for, and a duplicate of itself', async () => {
    await using rig = await DaemonRig.start();
    await using client = await connectLocal({ stateDir: rig.stateDir });
    const { agentId, control } = await rig.launch(client, 'one');
    const message = { agentId, idempotencyKey: 'k1', text: 'hello there' };
    expect((await client.turn.send(message)).status).toBe('accepted');
    const waited = await client.receipt.wait({
      idempotencyKey: 'k1',
      until: 'accepted',
      timeoutMs: 10_000,
    });
    expect(waited).toMatchObject({ waitEnded: 'reached', receipt: { agentId } });
    expect((await client.turn.send(message)).status).toBe('duplicate');
    await expect(client.turn.send({ ...message, text: 'other' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      outcome: 'not_carried_out',
    });
    expect(control.received().map(({ text }) => text)).toEqual(['hello there']);
    expect(await client.agents.list()).toMatchObject([{ agentId, name: 'one' }]);
    expect((await client.agent.screen({ agentId })).rows.length).toBeGreaterThan(10);
    expect(await client.receipt.list({ state: 'all' })).toHaveLength(1);
    expect(await client.receipt.get('nobody')).toBeNull();
    expect((await client.server.status()).agents).toBe(1);
    expect(await client.focus.set({ agentId })).toMatchObject({ focus: { agentId } });
    expect(await client.agent.recap({ agentId })).toBeInstanceOf(Array);
  });

  test('goes on behind a restart of the daemon, without a gap', async () => {
    await using rig = await DaemonRig.start();
    await using client = await connectLocal({ stateDir: rig.stateDir, reconnect: quick });
    const { agentId } = await rig.launch(client, 'one');
    const events = client.events();
    const instance = client.serverInstanceId;
    await client.focus.set({ agentId });
    const again = new Promise<void>((resolve) => {
      client.on('connection', ({ state }) => state === 'connected' && resolve());
    });
    await rig.restart();
    await again;
    await client.focus.set({ agentId: null });
    expect(client.serverInstanceId).not.toBe(instance);
    const ids: number[] = [];
    const focused: (string | null)[] = [];
    for await (const item of events) {
      if (item.type !== 'event') throw new Error('there was a resync');
      ids.push(item.eventId);
      if (item.kind !== 'focus.changed') continue;
      focused.push(item.payload.focus?.agentId ?? null);
      if (focused.length === 2) break;
    }
    expect(focused).toEqual([agentId, null]);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort((one, other) => one - other)).toEqual(ids);
  });

  test('a terminal is seen and typed into', async () => {
    await using rig = await DaemonRig.start();
    await using client = await connectLocal({ stateDir: rig.stateDir });
    const { agentId } = await rig.launch(client, 'one');
    await using view = await client.agent.attach({ agentId, cols: 90, rows: 30 });
    expect(view).toMatchObject({ cols: 90, rows: 30 });
    expect(view.paint.length).toBeGreaterThan(0);
    expect(await view.write('abc')).toBe('passed_on');
    let shown = '';
    for await (const piece of view.output) {
      if (piece.kind === 'output') shown += new TextDecoder().decode(piece.data);
      if (shown.includes('abc')) break;
    }
    await expect(
      client.agent.attach({ agentId, readOnly: true }).then((only) => only.write('x')),
    ).rejects.toMatchObject({ code: 'UNSUPPORTED_CAPABILITY' });
  });

  test('a result comes into the inbox and is spoken once; behind a resync it comes again and is not', async () => {
    await using rig = await DaemonRig.start();
    const storage = new MemoryInboxStorage();
    await using inbox = await ResultInbox.open({ storage });
    await using client = await connectLocal({
      stateDir: rig.stateDir,
      reconnect: quick,
      resume: await inbox.resumePoint(),
    });
    const { agentId } = await rig.launch(client, 'one');
    const effects: InboxEffect[] = [];
    let told: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => {
      told = resolve;
    });
    await using follower = new ResultFollower({
      client,
      inbox,
      onEffect: (effect) => {
        effects.push(effect);
        told();
      },
    });
    await follower.send({ agentId, idempotencyKey: 'ask-1', text: 'what is it?' });
    await stored;
    await follower.settled();
    expect(effects).toMatchObject([{ effect: 'stored' }]);
    const spoken: string[] = [];
    const speak = () =>
      inbox.speakNext(({ idempotencyKeys }) => {
        spoken.push(...idempotencyKeys);
        return Promise.resolve();
      });
    expect((await speak()).kind).toBe('spoken');
    await using again = await connectLocal({ stateDir: rig.stateDir, resume: beforeAllEvents });
    await using second = new ResultFollower({
      client: again,
      inbox,
      onEffect: (effect) => effects.push(effect),
    });
    await again.focus.get();
    await second.settled();
    expect(effects).toMatchObject([{ effect: 'stored' }, { effect: 'already_stored' }]);
    expect((await speak()).kind).toBe('nothing_queued');
    expect(spoken).toEqual(['ask-1']);
    expect(await inbox.openKeys()).toEqual([]);
  });

  test('a device comes in over WebSocket by its token, and is told when it is revoked', async () => {
    await using rig = await DaemonRig.start({ listen: { host: '127.0.0.1', port: 0 } });
    await using local = await connectLocal({ stateDir: rig.stateDir });
    const { deviceId, token } = await local.device.add('voice');
    const url = String(rig.daemon.listenAddress);
    await using remote = await connectRemote({ url, token, reconnect: quick });
    expect(remote.machineId).toBe(local.machineId);
    await expect(remote.device.list()).rejects.toMatchObject({ code: 'UNSUPPORTED_CAPABILITY' });
    const ended = new Promise((resolve) => {
      remote.on('connection', (news) => {
        if (news.state === 'ended') resolve(news.error);
      });
    });
    await local.device.revoke(deviceId);
    expect(await ended).toMatchObject({ code: 'REVOKED' });
    await expect(connectRemote({ url, token: 'wrong' })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });
});

describe('without a daemon', () => {
  test('says that none serves', async () => {
    await expect(connectLocal({ stateDir: '/nonexistent/ostler' })).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      outcome: 'not_carried_out',
    });
  });

  test('follows the note of a socket in another place, and closes at a frame that is too large', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'ostler-note-'));
    mkdirSync(join(dir, 'state'));
    const path = join(dir, 'ostler.sock');
    writeFileSync(join(dir, 'state', 'ostler.sock.path'), `${path}\n`);
    const server = createServer((socket) => socket.write(Buffer.alloc(2_000, 0x20)));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    try {
      const connecting = connectLocal({
        stateDir: join(dir, 'state'),
        limits: { maxIncomingFrameBytes: 1_000 },
      });
      await expect(connecting).rejects.toMatchObject({
        code: 'CONNECT_FAILED',
        message: expect.stringContaining('a frame of more than 1000 bytes') as string,
      });
    } finally {
      server.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
