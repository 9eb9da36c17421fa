import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Environment, MailAddress } from '../doors/mail-door.js';
import { CodexMailDoor } from './mail-door.js';

const sessionId = '01a22ea4-0000-7000-8000-000000000001';
const otherId = '01a22ea4-0000-7000-8000-000000000002';
const queueId = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
const messageId = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const pointer = { messageId, sender: 'asker', text: 'You have "mail" $HOME.' };

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'codex-door-')));
});
afterEach(() => rmSync(dir, { recursive: true }));

const address = (over: Partial<MailAddress> = {}): MailAddress => ({
  sessionId,
  workspace: dir,
  socket: null,
  ...over,
});

interface Asked {
  readonly file: string;
  readonly values: readonly string[];
}

/** A door whose state database has these rows, whatever is asked; it notes what was asked. */
function savedDoor(
  rows: readonly object[],
  env: Environment = {},
): { door: CodexMailDoor; asked: Asked[] } {
  const asked: Asked[] = [];
  const door = new CodexMailDoor({
    env: { HOME: dir, PATH: `${dir}:/usr/bin:/bin`, ...env },
    foreignRows: (file, _sql, values) => {
      asked.push({ file, values });
      return rows as readonly Record<string, unknown>[];
    },
  });
  return { door, asked };
}

function stateIn(place: string, ...numbers: readonly number[]): void {
  mkdirSync(path.join(dir, place), { recursive: true });
  for (const number of numbers) writeFileSync(path.join(dir, place, `state_${number}.sqlite`), '');
}

const row = { id: sessionId, cwd: '', archived: 0, source: 'cli' };
const own = (): object => ({ ...row, cwd: dir });

describe('a saved identity', () => {
  test('is looked for in sqlite_home of the config first, then CODEX_SQLITE_HOME, then CODEX_HOME', async () => {
    const whereFrom = async (env: Environment): Promise<string> => {
      const { asked, door } = savedDoor([own()], env);
      expect(await door.checkIdentity(address())).toMatchObject({ kind: 'found' });
      return path.relative(dir, asked[0]?.file ?? '');
    };
    stateIn('.codex', 5, 12, 9);
    stateIn('elsewhere', 5);
    stateIn('by-variable', 5);
    stateIn('by-config', 5);
    expect(await whereFrom({})).toBe('.codex/state_12.sqlite');
    expect(await whereFrom({ CODEX_HOME: path.join(dir, 'elsewhere') })).toBe(
      'elsewhere/state_5.sqlite',
    );
    const variable = { CODEX_SQLITE_HOME: path.join(dir, 'by-variable') };
    expect(await whereFrom(variable)).toBe('by-variable/state_5.sqlite');
    writeFileSync(path.join(dir, '.codex', 'config.toml'), 'sqlite_home = "~/by-config"\n');
    expect(await whereFrom(variable)).toBe('by-config/state_5.sqlite');
  });

  test('is the exact id in the exact workspace, not archived, of the source cli; the rest is unknown', async () => {
    stateIn('.codex', 5);
    const { asked, door } = savedDoor([own()]);
    expect(await door.checkIdentity(address())).toEqual({
      kind: 'found',
      evidence: {
        harness: 'codex',
        session_id: sessionId,
        workspace: dir,
        metadata_source: path.join(dir, '.codex/state_5.sqlite'),
        transport: 'codex_cli_queue',
        runtime_status: 'unknown',
      },
    });
    expect(asked[0]?.values).toEqual([sessionId]);
    const cases: readonly (readonly [object[], string])[] = [
      [[], 'recipient_not_in_codex_state'],
      [[{ ...own(), id: otherId }], 'recipient_identity_changed'],
      [[{ ...own(), cwd: '/' }], 'recipient_identity_changed'],
      [[{ ...own(), archived: 1 }], 'recipient_is_not_an_unarchived_codex_cli_session'],
      [[{ ...own(), source: 'exec' }], 'recipient_is_not_an_unarchived_codex_cli_session'],
    ];
    for (const [rows, reason] of cases) {
      const { door: other } = savedDoor(rows);
      expect(await other.checkIdentity(address())).toMatchObject({ kind: 'refused', reason });
      expect(await other.submit(address(), pointer)).toEqual({
        submission: 'not_submitted',
        detail: reason,
      });
    }
  });

  test('without a home or a state database there is none', async () => {
    expect(await savedDoor([], { HOME: undefined }).door.checkIdentity(address())).toMatchObject({
      reason: 'client_home_unknown',
    });
    expect(await savedDoor([]).door.checkIdentity(address())).toMatchObject({
      reason: 'client_state_not_found',
    });
  });
});

describe('codex queue', () => {
  function program(script: string): void {
    const file = path.join(dir, 'codex');
    writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$@" > ${dir}/args\n${script}\n`);
    chmodSync(file, 0o755);
  }
  const receipt = `Queued message ${queueId} for thread ${sessionId}.`;

  test('is given the thread and the pointer, and must answer with exactly one queue id for that thread', async () => {
    stateIn('.codex', 5);
    program(`echo '${receipt}'`);
    const { door } = savedDoor([own()]);
    expect(await door.submit(address(), pointer)).toEqual({
      submission: 'submitted',
      detail: `codex_cli_queued:${queueId}`,
    });
    expect(readFileSync(path.join(dir, 'args'), 'utf8').split('\n').slice(0, -1)).toEqual([
      'queue',
      '--thread',
      sessionId,
      '--message',
      pointer.text,
    ]);
    for (const script of [
      'true',
      `echo '${receipt}'; exit 1`,
      `echo '${receipt}'; echo '${receipt}'`,
      `echo 'Queued message ${queueId} for thread ${otherId}.'`,
      `echo 'Note: ${receipt}'`,
      'kill -9 $$',
    ]) {
      program(script);
      expect(await door.submit(address(), pointer), script).toEqual({
        submission: 'submission_unknown',
        detail: 'codex_cli_unconfirmed_receipt',
      });
    }
  });

  test('a program that is not there was not run', async () => {
    stateIn('.codex', 5);
    const { door } = savedDoor([own()]);
    expect(await door.submit(address(), pointer)).toEqual({
      submission: 'not_submitted',
      detail: 'ENOENT',
    });
  });
});

describe('an app-server', () => {
  type Answer = (method: string, params: Record<string, unknown>) => unknown;
  let http: Server | null = null;
  let asked: { method: string; params: Record<string, unknown> }[] = [];
  const socket = (): string => path.join(dir, 'app.sock');

  async function serve(answer: Answer): Promise<void> {
    asked = [];
    const open = createServer();
    http = open;
    new WebSocketServer({ server: open }).on('connection', (peer: WebSocket) => {
      peer.on('message', (data: Buffer) => {
        const { id, method, params } = JSON.parse(data.toString()) as {
          id?: number;
          method: string;
          params: Record<string, unknown>;
        };
        if (id === undefined) return;
        asked.push({ method, params });
        const result = method === 'initialize' ? {} : answer(method, params);
        if (result === 'hang up') peer.terminate();
        else if (result instanceof Error)
          peer.send(JSON.stringify({ id, error: { code: -32600 } }));
        else peer.send(JSON.stringify({ id, result }));
      });
    });
    await new Promise<void>((resolve) => open.listen(socket(), resolve));
  }

  afterEach(async () => {
    const open = http;
    http = null;
    open?.closeAllConnections();
    if (open) await new Promise((resolve) => open.close(resolve));
  });

  const thread = (over: object = {}): object => ({
    thread: { id: sessionId, cwd: dir, status: { type: 'idle' }, ...over },
  });
  const queued = (over: object = {}): object => ({
    queuedSubmission: { id: queueId, clientUserMessageId: messageId, ...over },
  });
  const submit = (): ReturnType<CodexMailDoor['submit']> =>
    savedDoor([]).door.submit(address({ socket: socket() }), pointer);

  test('shows the identity by thread/read: id and cwd match, status idle or active', async () => {
    const check = async (answer: unknown): Promise<unknown> => {
      await serve(() => answer);
      const { door } = savedDoor([]);
      const found = await door.checkIdentity(address({ socket: socket() }));
      expect(asked.map(({ method }) => method)).toEqual(['initialize', 'thread/read']);
      expect(asked[1]?.params).toEqual({ threadId: sessionId, includeTurns: false });
      const open = http;
      http = null;
      open?.closeAllConnections();
      await new Promise((resolve) => open?.close(resolve));
      return found;
    };
    for (const status of ['idle', 'active']) {
      expect(await check(thread({ status: { type: status } }))).toMatchObject({
        evidence: { harness: 'codex', session_id: sessionId, workspace: dir, status },
      });
    }
    const refused = async (answer: unknown): Promise<unknown> =>
      ((await check(answer)) as { reason?: string }).reason;
    expect(await refused(thread({ id: otherId }))).toBe('recipient_identity_changed');
    expect(await refused(thread({ cwd: '/' }))).toBe('recipient_identity_changed');
    expect(await refused(thread({ status: { type: 'notLoaded' } }))).toBe('recipient_not_loaded');
    expect(await refused(new Error('no'))).toBe('codex_rpc_rejected:-32600');
  });

  test('takes thread/queue/add with our message id as client id, which must come back', async () => {
    await serve((method) => (method === 'thread/read' ? thread() : queued()));
    expect(await submit()).toEqual({ submission: 'submitted', detail: `codex_queued:${queueId}` });
    expect(asked.at(-1)).toEqual({
      method: 'thread/queue/add',
      params: {
        threadId: sessionId,
        clientUserMessageId: messageId,
        input: [{ type: 'text', text: pointer.text }],
      },
    });
  });

  test.each([
    ['another client id', queued({ clientUserMessageId: otherId }), 'codex_queue_receipt_mismatch'],
    ['no receipt', {}, 'ZodError'],
    ['a refusal', new Error('no'), 'codex_rpc_rejected:-32600'],
    ['a connection that ends', 'hang up', 'codex_connection_closed'],
  ])('behind thread/queue/add, %s is in doubt', async (_what, answer, detail) => {
    await serve((method) => (method === 'thread/read' ? thread() : answer));
    expect(await submit()).toEqual({ submission: 'submission_unknown', detail });
  });

  test('before it, everything is not_submitted', async () => {
    expect(await submit()).toEqual({
      submission: 'not_submitted',
      detail: 'recipient_socket_unavailable',
    });
    await serve(() => thread({ cwd: '/' }));
    expect(await submit()).toEqual({
      submission: 'not_submitted',
      detail: 'recipient_identity_changed',
    });
    expect(asked.map(({ method }) => method)).not.toContain('thread/queue/add');
  });
});

test('CODEX_THREAD_ID says which thread it is', () => {
  const { door } = savedDoor([]);
  expect(door.sessionOf({})).toBeNull();
  expect(door.sessionOf({ CODEX_THREAD_ID: sessionId })).toEqual({
    sessionId,
    conflict: 'actor_conflicts_with_CODEX_THREAD_ID',
  });
});
