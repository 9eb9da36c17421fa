import { once } from 'node:events';
import { CodedError } from '@ostler/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MailWorld, until } from '../testing/mail-world.js';
import { DaemonTerminals } from './daemon-terminals.js';

const session = (digit: string): string => `${digit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`;
const id = (digit: string): string => `${digit.repeat(8)}-bbbb-4bbb-8bbb-bbbbbbbbbbbb`;
const dialog = {
  plan: [{ when: { on: 'ready' }, actions: [{ do: 'open', dialog: 'permission' }] }],
};

let world: MailWorld;
beforeAll(async () => {
  world = await MailWorld.open();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a session in a terminal of the running daemon', () => {
  test('is checked against its registry, and told by turn.send: its record has the pointer once', async () => {
    const agentId = await world.launch('one', session('1'));
    expect(await world.mail('peer', 'check', 'one')).toEqual({
      code: 0,
      document: {
        harness: 'claude',
        session_id: session('1'),
        workspace: world.workDir,
        transport: 'ostler_turn_send',
        agent_id: agentId,
        version: expect.any(String) as string,
      },
    });
    const send = [
      'send',
      'one',
      '--as',
      'asker',
      '--message',
      'a body of its own',
      '--id',
      id('1'),
    ];
    const { code, document } = await world.mail(...send);
    expect(document).toMatchObject({ submission: 'submitted', created: true });
    expect(document['notification_detail']).toMatch(/^ostler_accepted:[\w-]+$/u);
    expect(document).not.toHaveProperty('daemon');
    expect(code).toBe(0);
    const again = await world.mail(...send);
    expect(again).toMatchObject({ code: 0, document: { created: false, submission: 'submitted' } });
    const told = world.prompts(agentId).filter((text) => text.includes(id('1')));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('--as one inbox');
    expect(told[0]).not.toContain('a body of its own');
  });

  test('a refused request is not_submitted, and the message is saved all the same', async () => {
    await world.run('send', 'one', 'Something else.', '--key', id('2'), '--wait', 'settled');
    const { code, document } = await world.mail(
      ...['send', 'one', '--as', 'asker', '--message', 'refused', '--id', id('2')],
    );
    expect(document).toMatchObject({
      submission: 'not_submitted',
      notification_detail: 'ostler:IDEMPOTENCY_CONFLICT',
    });
    expect(code).toBe(2);
    const inbox = await world.mail('inbox', '--as', 'one');
    expect(JSON.stringify(inbox.document)).toContain(id('2'));
  });

  test('an input that is rejected before it is typed is not_submitted', async () => {
    await world.launch('two', session('2'), dialog);
    const sending = world.mail('send', 'two', '--as', 'asker', '--message', 'x', '--id', id('3'));
    await until('it waits', async () => (await world.run('receipts', 'get', id('3'))).code === 0);
    await world.run('close', 'two');
    expect(await sending).toMatchObject({
      code: 2,
      document: { submission: 'not_submitted', notification_detail: 'ostler_rejected:agent_gone' },
    });
  });

  test('one that waits behind a dialog, or whose Enter was lost, is in doubt', async () => {
    const waiting = await world.launch('three', session('3'), dialog);
    const terminals = new DaemonTerminals({ stateDir: world.cli.stateDir, acceptWithinMs: 200 });
    const terminal = { agentId: waiting, engine: 'claude', version: null };
    expect(await terminals.type(terminal, id('4'), 'A pointer.')).toMatchObject({
      outcome: 'open',
      reason: 'permission',
    });
    await world.launch('four', session('4'), { swallowEnters: 1_000 });
    expect(
      await world.mail('send', 'four', '--as', 'asker', '--message', 'x', '--id', id('5')),
    ).toMatchObject({ code: 2, document: { submission: 'submission_unknown' } });
  });

  test('in its terminal the session is known by itself: nobody has to say who speaks', async () => {
    await world.launch('five', session('5'));
    await world.addPeer('six', session('6'));
    await world.mail('send', 'six', '--as', 'five', '--message', 'for six', '--no-notify');
    const { code, env, inbox } = await world.launchInside('six', session('6'));
    expect(env).toEqual({
      OSTLER_AGENT_ID: expect.any(String) as string,
      OSTLER_ENGINE: 'claude',
      OSTLER_SESSION_ID: session('6'),
      OSTLER_STATE_DIR: world.cli.stateDir,
    });
    expect(code).toBe(0);
    expect(inbox).toContain('for six');
  });

  test('another workspace, another session or two claims to one are no terminal of the peer', async () => {
    const { terminals } = world;
    const peer = {
      name: 'one',
      harness: 'claude',
      session_id: session('1'),
      workspace: world.workDir,
      socket: null,
    };
    expect(await terminals.find(peer)).toMatchObject({ engine: 'claude' });
    expect(await terminals.find({ ...peer, workspace: world.cli.stateDir })).toBeNull();
    expect(await terminals.find({ ...peer, session_id: session('9') })).toBeNull();
    expect(await terminals.find({ ...peer, harness: 'codex' })).toBeNull();
    await world.launch('seven', session('7'));
    expect(await terminals.find({ ...peer, session_id: session('7') })).not.toBeNull();
    await world.start('eight', session('7'));
    expect(await terminals.find({ ...peer, session_id: session('7') })).toBeNull();
  });
});

test('without a daemon the message is saved, nobody was told, and it says so', async () => {
  await using alone = new MailWorld();
  await alone.addPeer('one', session('1'));
  await alone.addPeer('two', session('2'));
  const { code, document } = await alone.mail('send', 'two', '--as', 'one', '--message', 'kept');
  expect(document).toMatchObject({
    created: true,
    submission: 'not_submitted',
    daemon: 'DAEMON_NOT_RUNNING',
  });
  expect(code).toBe(2);
  const quiet = ['send', 'two', '--as', 'one', '--message', 'kept', '--no-notify'];
  expect((await alone.mail(...quiet)).code).toBe(0);
  const checked = await alone.mail('peer', 'check', 'two');
  expect(checked).toMatchObject({ code: 2, document: { daemon: 'DAEMON_NOT_RUNNING' } });
  expect(checked.document['message']).toContain('ostler up');
});

test('an answer that is lost is in doubt; a daemon that is not there took nothing', async () => {
  await using lost = await MailWorld.open();
  const agentId = await lost.launch('one', session('1'), dialog);
  const sending = lost.mail('send', 'one', '--as', 'asker', '--message', 'x', '--id', id('1'));
  await until('it waits', async () => (await lost.run('receipts', 'get', id('1'))).code === 0);
  const { daemon } = lost.cli;
  if (daemon === null) throw new Error('no daemon');
  const gone = once(daemon, 'exit');
  daemon.kill('SIGKILL');
  await gone;
  expect(await sending).toMatchObject({
    code: 2,
    document: { submission: 'submission_unknown', notification_detail: 'ostler_open:DAEMON_GONE' },
  });
  const { terminals } = lost;
  const terminal = { agentId, engine: 'claude', version: null };
  await expect(terminals.type(terminal, id('2'), 'x')).rejects.toThrow(CodedError);
  expect(terminals.unasked).toBeNull();
  await expect(terminals.sessionOf(agentId)).rejects.toMatchObject({ code: 'DAEMON_NOT_RUNNING' });
  expect(terminals.unasked?.code).toBe('DAEMON_NOT_RUNNING');
  // The agents live on in their host: a daemon has to be there to end them.
  await lost.up();
  expect(await terminals.sessionOf(agentId)).toEqual({ engine: 'claude', sessionId: session('1') });
});
