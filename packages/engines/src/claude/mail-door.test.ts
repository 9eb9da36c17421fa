import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { VirtualClock } from '@ostler/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MailAddress } from '../doors/mail-door.js';
import { ClaudeMailDoor } from './mail-door.js';
import { statusPath } from './paths.js';

const sessionId = '11111111-2222-4333-8444-555555555555';
const otherId = '66666666-7777-4888-8999-000000000000';
const messageId = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const pid = 4711;
const pointer = { messageId, sender: 'asker', text: 'You have mail.' };

let dir = '';
let server: Server | null = null;

beforeEach(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'claude-door-')));
  mkdirSync(path.dirname(statusPath(configDir(), pid)), { recursive: true });
});
afterEach(async () => {
  const open = server;
  server = null;
  if (open) await new Promise((resolve) => open.close(resolve));
  rmSync(dir, { recursive: true });
});

const configDir = (): string => path.join(dir, '.claude');
const socketPath = (): string => path.join(dir, 's.sock');
const address = (over: Partial<MailAddress> = {}): MailAddress => ({
  sessionId,
  workspace: dir,
  socket: null,
  ...over,
});

/** What the live listing says, by a program of that name. */
function listing(rows: unknown, end = ''): void {
  const file = path.join(dir, 'claude');
  const text = typeof rows === 'string' ? rows : JSON.stringify(rows);
  writeFileSync(file, `#!/bin/sh\necho "$@" > ${dir}/asked\ncat <<'E'\n${text}\nE\n${end}\n`);
  chmodSync(file, 0o755);
}

function record(over: object = {}): void {
  const own = { sessionId, cwd: dir, messagingSocketPath: socketPath() };
  writeFileSync(statusPath(configDir(), pid), JSON.stringify({ ...own, ...over }));
}

const live = (): readonly object[] => [{ sessionId, cwd: dir, pid }];
const door = (clock?: VirtualClock): ClaudeMailDoor =>
  new ClaudeMailDoor({
    env: { HOME: dir, PATH: `${dir}:/usr/bin:/bin` },
    ...(clock === undefined ? {} : { clock }),
  });

/** A session's messaging socket; resolves with all that one peer wrote. */
async function listen(): Promise<{ readonly taken: Promise<string> }> {
  let took: (text: string) => void = () => undefined;
  const taken = new Promise<string>((resolve) => {
    took = resolve;
  });
  const opened = createServer((connection) => {
    let text = '';
    connection.on('data', (data) => {
      text += data.toString();
    });
    connection.on('end', () => {
      connection.end();
      took(text);
    });
  });
  server = opened;
  await new Promise<void>((resolve) => opened.listen(socketPath(), resolve));
  return { taken };
}

test('the live listing and the session record must both show the id and the workspace', async () => {
  await listen();
  const refused = async (reason: string, over: Partial<MailAddress> = {}): Promise<void> => {
    expect(await door().checkIdentity(address(over))).toMatchObject({ kind: 'refused', reason });
    expect(await door().submit(address(over), pointer)).toEqual({
      submission: 'not_submitted',
      detail: reason,
    });
  };
  await refused('ENOENT');
  listing(live(), 'exit 1');
  await refused('listing_failed');
  listing('not json');
  await refused('SyntaxError');
  listing([]);
  await refused('recipient_unavailable');
  listing([...live(), ...live()]);
  await refused('recipient_unavailable');
  listing(live());
  await refused('recipient_unavailable', { workspace: '/' });
  await refused('ENOENT');
  record({ sessionId: otherId });
  await refused('recipient_identity_changed');
  record({ cwd: '/' });
  await refused('recipient_identity_changed');
  record({ messagingSocketPath: undefined });
  await refused('recipient_socket_unavailable');
  record();
  expect(await door().checkIdentity(address())).toEqual({
    kind: 'found',
    evidence: { harness: 'claude', session_id: sessionId, workspace: dir, socket: socketPath() },
  });
});

test('the socket must be a socket, and of this user', async () => {
  listing(live());
  record();
  expect(await door().submit(address(), pointer)).toMatchObject({
    submission: 'not_submitted',
    detail: 'recipient_socket_unavailable',
  });
  writeFileSync(socketPath(), '');
  expect(await door().checkIdentity(address())).toMatchObject({
    reason: 'recipient_socket_unavailable',
  });
  rmSync(socketPath());
  await listen();
  const { getuid } = process;
  if (getuid === undefined) return;
  process.getuid = () => getuid() + 1;
  try {
    expect(await door().checkIdentity(address())).toMatchObject({
      reason: 'recipient_socket_unavailable',
    });
  } finally {
    process.getuid = getuid;
  }
});

test('one JSON line: type user, the session, our id twice, a from, priority next, the pointer', async () => {
  listing(live());
  record();
  const { taken } = await listen();
  expect(await door().submit(address(), pointer)).toEqual({
    submission: 'submitted',
    detail: 'claude_socket_bytes_written',
  });
  const line = await taken;
  expect(line.endsWith('\n')).toBe(true);
  expect(JSON.parse(line)).toEqual({
    type: 'user',
    session_id: sessionId,
    uuid: messageId,
    msg_id: messageId,
    from: 'ostler:asker',
    priority: 'next',
    message: { role: 'user', content: 'You have mail.' },
  });
  expect(line.trimEnd()).not.toContain('\n');
});

test('a check sends nothing', async () => {
  listing(live());
  record();
  await listen();
  let connections = 0;
  server?.on('connection', () => {
    connections += 1;
  });
  await door().checkIdentity(address());
  expect(connections).toBe(0);
});

test('a socket that hangs up before all was written is in doubt; one nobody listens at is not', async () => {
  listing(live());
  record();
  await listen();
  server?.removeAllListeners('connection').on('connection', (connection) => connection.destroy());
  const large = { ...pointer, text: 'x'.repeat(8_000_000) };
  expect(await door().submit(address(), large)).toMatchObject({ submission: 'submission_unknown' });
});

test('no variable of its environment says which session it is: launchers inherit them', () => {
  expect(door().sessionOf()).toBeNull();
});
