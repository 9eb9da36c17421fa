import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { AppServerLink, ClaudeMailDoor, CodexMailDoor } from '@ostler/engines/doors';
import { randomIds, systemClock } from '@ostler/runtime';
import { readForeignDatabase } from '@ostler/store/sqlite';
import { describe, expect, test } from 'vitest';
import { reasonToSkip } from './deliveries.js';
import { MailWorld, modelHas, until } from './mail-world.js';

const claude = { engine: 'claude', version: '2.1.328' } as const;
const codex = { engine: 'codex', version: '0.169.0' } as const;
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const askingId = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';

/** Someone who asks; not a running session. */
const asker = (world: MailWorld, harness: string) => ({
  name: 'asker',
  harness,
  sessionId: askingId,
  workspace: world.sandbox.workDir,
});

const skipClaude = reasonToSkip(claude);
describe.skipIf(skipClaude !== null)(`the messaging socket of ${claude.version}`, () => {
  test('submitted, not submitted, in doubt', async () => {
    await using world = await MailWorld.open();
    const sessionId = randomIds.uuid();
    const live = await world.launch(claude, {}, { extraArgs: ['--session-id', sessionId] });
    await world.idle(live.agent);
    const env = world.env(live.launch);
    const mailbox = world.mailbox(env);
    mailbox.addPeer(asker(world, 'claude'));
    const workspace = world.sandbox.workDir;
    mailbox.addPeer({ name: 'live', harness: 'claude', sessionId, workspace });
    await until('the live listing', async () => (await mailbox.checkPeer('live')).kind === 'found');
    expect(await mailbox.checkPeer('live')).toMatchObject({
      evidence: { session_id: sessionId, workspace },
    });

    const { message } = await mailbox.send('asker', 'live', 'a body that stays in the mailbox');
    expect(message).toMatchObject({
      submission: 'submitted',
      notification_detail: 'claude_socket_bytes_written',
    });
    await until('the pointer before the model', () => modelHas(live.model, message.id));
    expect(modelHas(live.model, 'a body that stays')).toBe(false);

    // No such session: nothing is written anywhere.
    mailbox.addPeer({ name: 'gone', harness: 'claude', sessionId: randomIds.uuid(), workspace });
    expect((await mailbox.send('asker', 'gone', 'x')).message).toMatchObject({
      submission: 'not_submitted',
      notification_detail: 'recipient_unavailable',
    });
    // Another directory is another session.
    const elsewhere = new ClaudeMailDoor({ env });
    const address = { sessionId, workspace: world.sandbox.homeDir, socket: null };
    expect(await elsewhere.checkIdentity(address)).toMatchObject({
      reason: 'recipient_unavailable',
    });
    // A socket that takes the connection and hangs up: what it read is not known.
    const path = join(world.sandbox.dir, 'rude.sock');
    const rude = createServer((connection) => connection.destroy()).listen(path);
    await until('a socket', () => existsSync(path));
    const listing = join(world.binDir, 'listing');
    const pid = 999_999;
    const row = JSON.stringify([{ sessionId: askingId, cwd: workspace, pid }]);
    writeFileSync(listing, `#!/bin/sh\ncat <<'E'\n${row}\nE\n`, { mode: 0o755 });
    writeFileSync(
      join(world.sandbox.homeDir, '.claude', 'sessions', `${pid}.json`),
      JSON.stringify({ sessionId: askingId, cwd: workspace, messagingSocketPath: path }),
    );
    const door = new ClaudeMailDoor({ env, command: listing });
    const pointer = { messageId: askingId, sender: 'x', text: 'y'.repeat(8_000_000) };
    const to = { sessionId: askingId, workspace, socket: null };
    expect(await door.submit(to, pointer)).toMatchObject({ submission: 'submission_unknown' });
    rude.close();
  });
});

const skipCodex = reasonToSkip(codex);
describe.skipIf(skipCodex !== null)(`the queues of ${codex.version}`, () => {
  test('codex queue: submitted with its id, not submitted, in doubt', async () => {
    await using world = await MailWorld.open();
    const live = await world.launch(codex, {}, {});
    await world.idle(live.agent);
    await world.prompt(live.agent, 'a first turn');
    const sessionId = await world.codexThread();
    const env = world.env(live.launch);
    const mailbox = world.mailbox(env);
    mailbox.addPeer(asker(world, 'codex'));
    const workspace = world.sandbox.workDir;
    mailbox.addPeer({ name: 'live', harness: 'codex', sessionId, workspace });
    expect(await mailbox.checkPeer('live')).toMatchObject({
      evidence: { session_id: sessionId, workspace, runtime_status: 'unknown' },
    });
    const { message } = await mailbox.send('asker', 'live', 'a body that stays in the mailbox');
    expect(message.submission).toBe('submitted');
    const queueId = new RegExp(`^codex_cli_queued:(${uuid})$`, 'u').exec(
      message.notification_detail ?? '',
    )?.[1];
    expect(queueId).toBeDefined();
    await until('the pointer before the model', () => modelHas(live.model, message.id));
    expect(modelHas(live.model, 'a body that stays')).toBe(false);

    expect((await mailbox.send('live', 'asker', 'x')).message).toMatchObject({
      submission: 'not_submitted',
      notification_detail: 'recipient_not_in_codex_state',
    });
    const silent = join(world.binDir, 'silent');
    const door = (text: string): CodexMailDoor => {
      writeFileSync(silent, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      return new CodexMailDoor({ env, command: silent, foreignRows: readForeignDatabase });
    };
    const address = { sessionId, workspace, socket: null };
    const pointer = { messageId: message.id, sender: 'asker', text: 'pointer' };
    const receipt = `Queued message ${askingId} for thread ${sessionId}.`;
    for (const text of [
      'exit 3',
      'echo something else',
      `echo 'Queued message ${askingId} for thread ${askingId}.'`,
      `echo '${receipt}'; exit 1`,
      `echo '${receipt}'; echo '${receipt}'`,
    ]) {
      expect(await door(text).submit(address, pointer), text).toEqual({
        submission: 'submission_unknown',
        detail: 'codex_cli_unconfirmed_receipt',
      });
    }
    const none = new CodexMailDoor({ env, command: '/nowhere', foreignRows: readForeignDatabase });
    expect(await none.submit(address, pointer)).toMatchObject({ submission: 'not_submitted' });
  });

  test('thread/queue/add: submitted with its id, not submitted, in doubt', async () => {
    await using world = await MailWorld.open();
    const { launch, model } = await world.prepare(codex, {}, {});
    const path = join(world.sandbox.dir, 'app.sock');
    const server = spawn(launch.command, ['app-server', '--listen', `unix://${path}`], {
      env: launch.env,
      cwd: launch.cwd,
      stdio: 'ignore',
    });
    world.owned.defer(() => void server.kill('SIGKILL'));
    await until('the socket', () => existsSync(path));
    using link = await AppServerLink.open(path, systemClock, 'test');
    const started = (await link.call('thread/start', { cwd: launch.cwd })) as {
      thread: { id: string };
    };
    const sessionId = started.thread.id;
    const mailbox = world.mailbox(world.env(launch));
    mailbox.addPeer(asker(world, 'codex'));
    const workspace = world.sandbox.workDir;
    mailbox.addPeer({ name: 'live', harness: 'codex', sessionId, workspace, socket: path });
    expect(await mailbox.checkPeer('live')).toMatchObject({
      evidence: { session_id: sessionId, status: 'idle' },
    });
    const { message } = await mailbox.send('asker', 'live', 'a body that stays in the mailbox');
    expect(message.notification_detail).toMatch(new RegExp(`^codex_queued:${uuid}$`, 'u'));
    expect(message.submission).toBe('submitted');
    await until('the pointer before the model', () => modelHas(model, message.id));
    expect(modelHas(model, 'a body that stays')).toBe(false);

    const unknown = { sessionId: randomIds.uuid(), workspace, socket: path };
    const door = new CodexMailDoor({ env: launch.env, foreignRows: readForeignDatabase });
    const pointer = { messageId: randomIds.uuid(), sender: 'asker', text: 'pointer' };
    expect(await door.submit(unknown, pointer)).toMatchObject({ submission: 'not_submitted' });
    const nowhere = { sessionId, workspace, socket: join(world.sandbox.dir, 'none.sock') };
    expect(await door.submit(nowhere, pointer)).toEqual({
      submission: 'not_submitted',
      detail: 'recipient_socket_unavailable',
    });
    // Stopped after the check: it took the frame or it didn't, and it never says.
    const stopping = new CodexMailDoor({
      env: launch.env,
      foreignRows: readForeignDatabase,
      clock: {
        ...systemClock,
        // The third call is thread/queue/add, after initialize and thread/read.
        setTimer: (delayMs, callback) => {
          timers += 1;
          if (timers === 3) server.kill('SIGSTOP');
          return systemClock.setTimer(timers === 3 ? 300 : delayMs, callback);
        },
      },
    });
    let timers = 0;
    const address = { sessionId, workspace, socket: path };
    expect(await stopping.submit(address, pointer)).toEqual({
      submission: 'submission_unknown',
      detail: 'codex_rpc_timeout',
    });
  });
});
