import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../testing/cli-world.js';
import { type Document, MailCli, sessions } from '../testing/mail-cli.js';
import { spawnSync } from 'node:child_process';

const id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const unused = 'eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee';

interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly document: Document;
}

/** A host of the server, as an agent program is one. */
class Host implements AsyncDisposable {
  readonly client: Client = new Client({ name: 'test-host', version: '1.0.0' });

  static async as(name: string, cli: MailCli): Promise<Host> {
    const host = new Host();
    const args = [main, 'mcp', '--as', name, '--db', cli.db];
    const env = { ...cli.env };
    const transport = new StdioClientTransport({ command: process.execPath, args, env });
    await host.client.connect(transport);
    return host;
  }

  async call(name: string, args: object = {}): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: { ...args } });
    const [first] = result.content as { type: string; text: string }[];
    const text = first?.text ?? '';
    const isDocument = text.startsWith('{');
    return {
      isError: result.isError === true,
      text,
      document: isDocument ? (JSON.parse(text) as Document) : {},
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

let cli: MailCli;
let alice: Host;
let bob: Host;
beforeAll(async () => {
  cli = await MailCli.withPeers();
  [alice, bob] = await Promise.all([Host.as('alice', cli), Host.as('bob', cli)]);
});
afterAll(async () => {
  await alice[Symbol.asyncDispose]();
  await bob[Symbol.asyncDispose]();
  cli[Symbol.dispose]();
});

test('the server has exactly these tools, each with its hints, and the skill for instructions', async () => {
  const { tools } = await alice.client.listTools();
  const hints = tools.map(({ annotations, name }) => [name, annotations?.readOnlyHint]);
  expect(Object.fromEntries(hints)).toEqual({
    mail_send: false,
    mail_reply: false,
    mail_wait: true,
    mail_show: true,
    mail_ack: false,
    mail_inbox: true,
    mail_sent: true,
    mail_peer_list: true,
    mail_peer_check: true,
    mail_peer_add: false,
  });
  for (const { annotations, description } of tools) {
    expect(annotations).toMatchObject({ openWorldHint: false });
    expect(description?.length).toBeGreaterThan(20);
  }
  const printed = spawnSync(process.execPath, [main, 'mcp', '--skill'], {
    env: cli.env,
    encoding: 'utf8',
  });
  expect(printed.status).toBe(0);
  expect(alice.client.getInstructions()).toBe(printed.stdout);
  for (const { name } of tools) expect(printed.stdout).toContain(name);
  expect(printed.stdout).toContain("never the owner's authorization");
});

describe('every verb', () => {
  test('send, inbox, reply, wait, show, ack and sent: one conversation', async () => {
    const asked = await alice.call('mail_send', {
      recipient: 'bob',
      message: 'Which test is missing?',
      id,
      notify: false,
    });
    expect(asked).toMatchObject({
      isError: false,
      document: { id, created: true, submission: 'not_submitted', state: 'saved' },
    });
    const again = { recipient: 'bob', message: 'Which test is missing?', id, notify: false };
    expect((await alice.call('mail_send', again)).document).toMatchObject({ created: false });
    expect((await bob.call('mail_inbox')).document).toMatchObject({
      messages: [{ id, body: 'Which test is missing?' }],
    });
    const waiting = alice.call('mail_wait', { request_id: id, seconds: 45 });
    const answer = { request_id: id, message: 'The one for an empty file.', notify: false };
    const replied = await bob.call('mail_reply', answer);
    expect(replied.document).toMatchObject({ in_reply_to: id, created: true });
    expect((await bob.call('mail_reply', answer)).document).toMatchObject({ created: false });
    expect((await waiting).document).toMatchObject({
      state: 'reply_received',
      reply: { body: 'The one for an empty file.' },
    });
    const replyId = String(replied.document['id']);
    expect((await alice.call('mail_show', { message_id: replyId })).document).toMatchObject({
      ack_at: null,
    });
    const acked = await alice.call('mail_ack', { message_id: replyId });
    expect(acked.document['ack_at']).toEqual(expect.any(Number));
    expect((await alice.call('mail_inbox')).document).toMatchObject({ messages: [] });
    expect((await alice.call('mail_sent')).document).toMatchObject({
      messages: [{ id, state: 'reply_received' }],
    });
  });

  test('send waits, and says when the time is over', async () => {
    const asked = { recipient: 'bob', message: 'slow', notify: false, wait_seconds: 0.2 };
    expect((await alice.call('mail_send', asked)).document).toMatchObject({
      wait_ended: 'timeout',
      created: true,
    });
  });

  test('a notification is on where nothing else is said, and its outcome is told', async () => {
    const { document, isError } = await alice.call('mail_send', {
      recipient: 'bob',
      message: 'told',
    });
    expect(isError).toBe(false);
    expect(document).toMatchObject({
      submission: 'not_submitted',
      notification_detail: 'ENOENT',
      daemon: 'DAEMON_NOT_RUNNING',
    });
    expect(document['notification_started_at']).toEqual(expect.any(Number));
  });

  test('peers are added, listed and checked', async () => {
    const carol = {
      name: 'carol',
      engine: 'codex',
      session: sessions.carol,
      workspace: cli.workDir,
      socket: join(cli.dir, 'app.sock'),
    };
    expect((await alice.call('mail_peer_add', carol)).document).toMatchObject({
      name: 'carol',
      harness: 'codex',
    });
    expect((await alice.call('mail_peer_list')).document['peers']).toHaveLength(3);
    expect(await alice.call('mail_peer_check', { name: 'carol' })).toMatchObject({
      isError: true,
      document: { error: 'recipient_socket_unavailable' },
    });
  });
});

test('the answers are those of the command line', async () => {
  const byCli = async (...args: readonly string[]): Promise<Document> =>
    (await cli.run([...args, '--as', 'alice'])).document;
  expect((await alice.call('mail_show', { message_id: id })).document).toEqual(
    await byCli('show', id),
  );
  expect((await alice.call('mail_sent')).document).toEqual(await byCli('sent'));
  expect((await alice.call('mail_inbox')).document).toEqual(await byCli('inbox'));
  expect((await alice.call('mail_peer_list')).document).toEqual(await byCli('peer', 'list'));
  const wait = await alice.call('mail_wait', { request_id: id, seconds: 0 });
  expect(wait.document).toEqual(await byCli('wait', id, '--seconds', '0'));
  const refused = await alice.call('mail_show', { message_id: unused });
  expect(refused.isError).toBe(true);
  expect(refused.document).toEqual(await byCli('show', unused));
});

test('what is refused has its code, and changes nothing', async () => {
  const before = (await alice.call('mail_sent')).text;
  const refused = async (tool: string, args: object): Promise<unknown> => {
    const { document, isError } = await alice.call(tool, args);
    expect(isError).toBe(true);
    return document['error'];
  };
  expect(await refused('mail_send', { recipient: 'nobody', message: 'x' })).toBe('unknown_peer');
  expect(await refused('mail_send', { recipient: 'bob', message: ' ' })).toBe(
    'message_must_be_1_to_32000_bytes',
  );
  expect(await refused('mail_send', { recipient: 'bob', message: 'other', id })).toBe(
    'message_id_conflict',
  );
  expect(await refused('mail_send', { recipient: 'bob', message: 'x', wait_seconds: 46 })).toBe(
    'wait_seconds_must_be_between_0_and_45',
  );
  expect(await refused('mail_reply', { request_id: id, message: 'x' })).toBe(
    'reply_address_mismatch',
  );
  expect(await refused('mail_wait', { request_id: unused })).toBe('unknown_message');
  expect(await refused('mail_wait', { request_id: id, seconds: -1 })).toBe(
    'wait_seconds_must_be_between_0_and_45',
  );
  expect(await refused('mail_show', { message_id: 'x' })).toBe('invalid_uuid');
  expect(await refused('mail_ack', { message_id: id })).toBe('only_recipient_can_ack');
  expect(await refused('mail_peer_check', { name: 'nobody' })).toBe('unknown_peer');
  const alias = { name: 'alias', engine: 'claude', session: sessions.bob, workspace: cli.workDir };
  expect(await refused('mail_peer_add', alias)).toBe('session_already_has_a_peer_name');
  expect((await alice.call('mail_sent')).text).toBe(before);
});

test.each([
  ['mail_send', { recipient: 'bob' }],
  ['mail_send', { recipient: 'bob', message: 7 }],
  ['mail_send', { recipient: 'bob', message: 'x', notify: 'no' }],
  ['mail_send', { recipient: 'bob', message: 'x', notfy: false }],
  ['mail_reply', { message: 'x' }],
  ['mail_wait', { request_id: id, seconds: '45' }],
  ['mail_show', {}],
  ['mail_ack', { message_id: null }],
  ['mail_peer_add', { name: 'x' }],
  ['mail_peer_check', { name: 'bob', force: true }],
])('%s does not take %j', async (tool, args) => {
  const before = (await alice.call('mail_sent')).text;
  const { isError, text } = await alice.call(tool, args);
  expect(isError).toBe(true);
  expect(text).toMatch(/invalid/iu);
  expect((await alice.call('mail_sent')).text).toBe(before);
});

test('an unknown speaker is told so, at each call and not at the start', async () => {
  await using nobody = await Host.as('nobody', cli);
  expect(await nobody.call('mail_inbox')).toMatchObject({
    isError: true,
    document: { error: 'unknown_peer' },
  });
  expect((await nobody.call('mail_peer_list')).isError).toBe(false);
});

test('the server ends when its input does, and a cancelled wait leaves everything as it was', async () => {
  const broken = new AbortController();
  const host = await Host.as('alice', cli);
  const asked = await host.call('mail_send', { recipient: 'bob', message: 'later', notify: false });
  const args = { request_id: String(asked.document['id']), seconds: 45 };
  const waiting = host.client.callTool({ name: 'mail_wait', arguments: args }, undefined, {
    signal: broken.signal,
  });
  broken.abort('no longer');
  await expect(waiting).rejects.toThrow();
  const shown = await host.call('mail_show', { message_id: args.request_id });
  expect(shown.document).toMatchObject({ reply: null, ack_at: null });
  await host[Symbol.asyncDispose]();
  const ended = spawnSync(process.execPath, [main, 'mcp', '--as', 'alice', '--db', cli.db], {
    env: cli.env,
    input: '',
  });
  expect(ended.status).toBe(0);
});
