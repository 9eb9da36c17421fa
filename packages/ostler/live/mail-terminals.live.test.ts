import { join } from 'node:path';
import { Daemon } from '@ostler/daemon';
import type { PinnedEngine, RealEngineOptions } from '@ostler/lab';
import type { Mailbox } from '@ostler/mailbox';
import { randomIds } from '@ostler/runtime';
import type { AgentSession } from '@ostler/service';
import { describe, expect, test } from 'vitest';
import { builtInEngines } from '../src/built-in-engines.js';
import { DaemonTerminals } from '../src/cli/mail/daemon-terminals.js';
import { reasonToSkip } from './deliveries.js';
import { type LiveEngine, MailWorld, modelHas, until } from './mail-world.js';

const claude = { engine: 'claude', version: '2.1.328' } as const;
const codex = { engine: 'codex', version: '0.169.0' } as const;
const askingId = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';

type Live = Pick<LiveEngine, 'model'> & {
  readonly agent: AgentSession;
  readonly mailbox: Mailbox;
  readonly terminals: DaemonTerminals;
};

/** A real engine in a terminal of a daemon, and a mailbox that asks that daemon. */
async function launch(
  world: MailWorld,
  pin: PinnedEngine,
  options: RealEngineOptions,
): Promise<Live> {
  const stateDir = join(world.sandbox.dir, 'daemon');
  const daemon = world.owned.own(
    await Daemon.start({ stateDir, engines: builtInEngines, version: '0.1.0', hosted: false }),
  );
  const { launch: prepared, model } = await world.prepare(pin, {}, options);
  const { args, command, cwd, env } = prepared;
  const { engine } = pin;
  const agent = await daemon.service.launch({
    engine,
    command,
    args,
    cwd,
    env,
    cols: 100,
    rows: 32,
  });
  await until('an idle composer', () => {
    const { busy, composer, hold, readable } = agent.reading;
    return readable && composer !== null && !busy && hold === null;
  });
  const terminals = new DaemonTerminals({ stateDir });
  const mailbox = world.mailbox(world.env(prepared), terminals);
  const workspace = world.sandbox.workDir;
  mailbox.addPeer({ name: 'asker', harness: engine, sessionId: askingId, workspace });
  return { agent, mailbox, model, terminals };
}

/** Told by typing, once; its session is the one that the engine's own evidence shows. */
async function showTold(world: MailWorld, live: Live, engine: string): Promise<string> {
  const { agent, mailbox, model, terminals } = live;
  await until('its session', async () => (await terminals.sessionOf(agent.agentId)) !== null);
  const sessionId = (await terminals.sessionOf(agent.agentId))?.sessionId ?? '';
  const workspace = world.sandbox.workDir;
  mailbox.addPeer({ name: 'live', harness: engine, sessionId, workspace });
  expect(await mailbox.checkPeer('live')).toMatchObject({
    evidence: { transport: 'ostler_turn_send', agent_id: agent.agentId, session_id: sessionId },
  });
  const { message } = await mailbox.send('asker', 'live', 'a body that stays in the mailbox');
  expect(message.submission).toBe('submitted');
  expect(message.notification_detail).toMatch(/^ostler_accepted:[\w-]+$/u);
  await until('the pointer before the model', () => modelHas(model, message.id));
  expect(modelHas(model, 'a body that stays')).toBe(false);
  return sessionId;
}

const skipClaude = reasonToSkip(claude);
describe.skipIf(skipClaude !== null)(`${claude.version} in a terminal of a daemon`, () => {
  test('its session is the one it was started with, and mail is typed', async () => {
    await using world = await MailWorld.open();
    const own = randomIds.uuid();
    const live = await launch(world, claude, { extraArgs: ['--session-id', own] });
    expect(await showTold(world, live, 'claude')).toBe(own);
    // Another workspace is another session: nothing is typed.
    const elsewhere = world.sandbox.homeDir;
    const peer = { name: 'x', harness: 'claude', session_id: own, socket: null };
    expect(await live.terminals.find({ ...peer, workspace: elsewhere })).toBeNull();
    await live.agent.terminal.close();
    await until('it is gone', async () => {
      const found = await live.terminals.sessionOf(live.agent.agentId);
      return found === null;
    });
    expect((await live.mailbox.send('asker', 'live', 'too late')).message).toMatchObject({
      submission: 'not_submitted',
    });
  });

  test('behind a draft of a person it is in doubt', async () => {
    await using world = await MailWorld.open();
    const live = await launch(world, claude, { extraArgs: ['--session-id', randomIds.uuid()] });
    await showTold(world, live, 'claude');
    await until('rest', () => !live.agent.reading.busy);
    live.agent.terminal.personInput('a draft of mine');
    await until('the draft', () => live.agent.reading.composer?.draft === 'a draft of mine');
    expect((await live.mailbox.send('asker', 'live', 'later')).message).toMatchObject({
      submission: 'submission_unknown',
    });
  });
});

const skipCodex = reasonToSkip(codex);
describe.skipIf(skipCodex !== null)(`${codex.version} in a terminal of a daemon`, () => {
  test('its session is the thread of its own state database, and mail is typed', async () => {
    await using world = await MailWorld.open();
    const live = await launch(world, codex, {});
    expect(await showTold(world, live, 'codex')).toBe(await world.codexThread());
  });
});
