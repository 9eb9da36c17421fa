import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnPty } from '@ostler/terminal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../testing/cli-world.js';
import { type Document, ended, MailCli, sessions } from '../testing/mail-cli.js';
import { until } from '../testing/mail-world.js';

const id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';

let cli: MailCli;
beforeAll(async () => {
  cli = await MailCli.withPeers();
});
afterAll(() => cli[Symbol.dispose]());

const idsOf = (document: Document): readonly string[] =>
  (document['messages'] as { id: string }[]).map((message) => message.id);

describe('options', () => {
  test('--db and --as are taken before and after the verb, and the nearest counts', async () => {
    const quiet = ['--message', 'hello', '--no-notify'];
    const before = await cli.run(['--db', cli.db, '--as', 'alice', 'send', 'bob', ...quiet], {});
    expect(before).toMatchObject({ code: 0, document: { sender: 'alice' } });
    const after = await cli.run(['send', 'bob', ...quiet, '--db', cli.db, '--as', 'alice'], {});
    expect(after).toMatchObject({ code: 0, document: { sender: 'alice' } });
    const both = await cli.run(['--as', 'bob', 'sent', '--as', 'alice', '--db', cli.db], {});
    expect(idsOf(both.document)).toEqual([before.document['id'], after.document['id']]);
    const inner = await cli.run(['--db', cli.db, 'peer', 'list'], {});
    expect((inner.document['peers'] as object[]).length).toBe(2);
  });

  test('the file is --db, then OSTLER_MAIL_DB, then HTALK_DB, then the XDG data directory', async () => {
    const place = (name: string): string => join(cli.dir, name, 'm.sqlite3');
    const all = {
      OSTLER_MAIL_DB: place('ours'),
      HTALK_DB: place('theirs'),
      XDG_DATA_HOME: join(cli.dir, 'xdg'),
    };
    const { OSTLER_MAIL_DB: _ours, ...theirs } = all;
    const { HTALK_DB: _theirs, ...xdg } = theirs;
    const made = async (path: string, args: readonly string[], env: Record<string, string>) => {
      expect(existsSync(path)).toBe(false);
      expect((await cli.run([...args, 'peer', 'list'], env)).code).toBe(0);
      expect(existsSync(path)).toBe(true);
    };
    await made(place('option'), ['--db', place('option')], all);
    await made(place('ours'), [], all);
    await made(place('theirs'), [], theirs);
    await made(join(cli.dir, 'xdg', 'harness-talk', 'mail.sqlite3'), [], xdg);
    await made(join(cli.dir, '.local', 'share', 'harness-talk', 'mail.sqlite3'), [], {});
  });

  test('files are 0600 and directories 0700, whatever the umask', () => {
    for (const mask of ['000', '077', '277']) {
      const path = join(cli.dir, `umask-${mask}`, 'deep', 'm.sqlite3');
      const args = [process.execPath, main, 'mail', '--db', path, 'peer', 'list'];
      const ran = spawnSync('/bin/sh', ['-c', `umask ${mask}; exec "$@"`, 'sh', ...args], {
        env: cli.env,
        encoding: 'utf8',
      });
      expect(ran.status, ran.stdout + ran.stderr).toBe(0);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      for (const dir of [`umask-${mask}/deep`, `umask-${mask}`]) {
        expect(statSync(join(cli.dir, dir)).mode & 0o777).toBe(0o700);
      }
    }
  });

  test('the text is --message or --message-file, one of them, of UTF-8 and as it stands', async () => {
    const file = join(cli.dir, 'question.md');
    const send = (...args: readonly string[]) =>
      cli.run(['send', 'bob', '--as', 'alice', '--no-notify', ...args]);
    writeFileSync(file, 'ä question\n');
    expect((await send('--message-file', file)).document['body']).toBe('ä question\n');
    expect(await send()).toMatchObject({ code: 2, document: { error: 'message_required' } });
    const both = await send('--message', 'x', '--message-file', file);
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('cannot be used with');
    expect(await send('--message-file', join(cli.dir, 'none'))).toMatchObject({
      code: 2,
      document: { error: 'message_file_unreadable' },
    });
    const refused = async (bytes: Buffer | string): Promise<unknown> => {
      writeFileSync(file, bytes);
      const { code, document } = await send('--message-file', file);
      expect(code).toBe(2);
      return document['error'];
    };
    expect(await refused(Buffer.from([0xc3, 0x28]))).toBe('message_must_be_text');
    expect(await refused('x'.repeat(32_001))).toBe('message_must_be_1_to_32000_bytes');
    expect(await refused(' \n')).toBe('message_must_be_1_to_32000_bytes');
    writeFileSync(file, 'x'.repeat(32_000));
    expect((await send('--message-file', file)).code).toBe(0);
  });

  test('--wait is 0 to 45 finite seconds, and is refused before anything is saved', async () => {
    const send = ['send', 'bob', '--as', 'alice', '--message', 'waits', '--no-notify'];
    const values = ['45.1', '-1', 'NaN', 'Infinity', '1e999', '', 'soon'];
    const ran = await Promise.all(values.map((each) => cli.run([...send, `--wait=${each}`])));
    for (const each of ran) {
      expect(each).toMatchObject({
        code: 2,
        document: { error: 'wait_seconds_must_be_between_0_and_45' },
      });
    }
    const { document } = await cli.run(['sent', '--as', 'alice']);
    expect(JSON.stringify(document)).not.toContain('"waits"');
  });
});

describe('exit codes', () => {
  test('0: the local operation succeeded; 2: refused, and nothing was changed', async () => {
    using own = await MailCli.withPeers();
    const send = ['send', 'bob', '--as', 'alice', '--message', 'x', '--no-notify', '--id', id];
    expect(await own.run(send)).toMatchObject({ code: 0, document: { created: true } });
    expect(await own.run(send)).toMatchObject({ code: 0, document: { created: false } });
    const codes: readonly (readonly [readonly string[], string])[] = [
      [['send', 'bob', '--message', 'x'], 'peer_required_use_as_or_OSTLER_PEER'],
      [['send', 'nobody', '--as', 'alice', '--message', 'x'], 'unknown_peer'],
      [['send', 'alice', '--as', 'alice', '--message', 'x'], 'sender_and_recipient_must_differ'],
      [['send', 'bob', '--as', 'alice', '--message', 'y', '--id', id], 'message_id_conflict'],
      [['reply', id, '--as', 'alice', '--message', 'x'], 'reply_address_mismatch'],
      [['wait', id, '--as', 'bob', '--seconds', '0'], 'wait_requires_own_request'],
      [['ack', id, '--as', 'alice'], 'only_recipient_can_ack'],
      [['show', 'x', '--as', 'alice'], 'invalid_uuid'],
    ];
    await Promise.all(
      codes.map(async ([args, error]) => {
        const { code, document } = await own.run(args);
        expect([code, document['error']], args.join(' ')).toEqual([2, error]);
        expect(document['recovery']).toMatchObject({ peers: expect.any(String) as string });
      }),
    );
    const unknown = await own.run(['snd']);
    expect(unknown).toMatchObject({ code: 2, document: {} });
    expect(unknown.stderr).toContain('--help');
    const { document } = await own.run(['sent', '--as', 'alice']);
    expect(idsOf(document)).toEqual([id]);
  });

  test('2: a notification that this call attempted has no confirmed submission; the message is saved', async () => {
    using own = await MailCli.withPeers();
    const send = ['send', 'bob', '--as', 'alice', '--message', 'x', '--id', id];
    expect(await own.run(send)).toMatchObject({
      code: 2,
      document: { created: true, submission: 'not_submitted', notification_detail: 'ENOENT' },
    });
    // The second call attempted nothing.
    expect(await own.run(send)).toMatchObject({ code: 0, document: { created: false } });
    expect(idsOf((await own.run(['inbox', '--as', 'bob'])).document)).toEqual([id]);
  });

  test('a wait that times out is 0, and says so', async () => {
    using own = await MailCli.withPeers();
    const send = ['send', 'bob', '--as', 'alice', '--message', 'x', '--no-notify', '--id', id];
    expect(await own.run([...send, '--wait', '0.2'])).toMatchObject({
      code: 0,
      document: { wait_ended: 'timeout', created: true },
    });
    await own.run(['reply', id, '--as', 'bob', '--message', 'yes', '--no-notify']);
    const waited = await own.run(['wait', id, '--as', 'alice', '--seconds', '0']);
    expect(waited).toMatchObject({ code: 0, document: { state: 'reply_received' } });
    expect(waited.document).not.toHaveProperty('wait_ended');
  });

  test('130: Ctrl-C while waiting, with advice on where to look; what was saved stays', async () => {
    using own = await MailCli.withPeers();
    const env = { OSTLER_MAIL_DB: own.db };
    const send = ['send', 'bob', '--as', 'alice', '--message', 'x', '--no-notify', '--id', id];
    const sending = own.start([...send, '--wait', '45'], env);
    const sent = ended(sending);
    while ((await own.run(['show', id, '--as', 'alice'])).code !== 0);
    sending.kill('SIGINT');
    expect(await sent).toMatchObject({
      code: 130,
      document: {
        state: 'interrupted',
        message_id: id,
        persistence: 'saved',
        recovery: {
          show: `ostler mail --db ${own.db} --as alice show ${id}`,
          sent: `ostler mail --db ${own.db} --as alice sent`,
          inbox: `ostler mail --db ${own.db} --as alice inbox`,
        },
        next_action: expect.stringContaining('Do not send again') as string,
      },
    });
    expect((await own.run(['show', id, '--as', 'alice'])).document['submission']).toBe(
      'not_submitted',
    );
  });

  test('130: Ctrl-C in the middle of a notification leaves it in doubt, and it is never made again', async () => {
    using own = await MailCli.withPeers();
    const asked = join(own.dir, 'asked');
    const client = `#!/bin/sh\necho asked >> ${asked}\nexec sleep 30\n`;
    writeFileSync(join(own.binDir, 'claude'), client, { mode: 0o755 });
    const send = ['send', 'bob', '--as', 'alice', '--message', 'x', '--id', id];
    const sending = own.start(send, { OSTLER_MAIL_DB: own.db });
    const sent = ended(sending);
    await until('the client was asked', () => existsSync(asked));
    sending.kill('SIGINT');
    expect(await sent).toMatchObject({ code: 130, document: { persistence: 'saved' } });
    const again = await own.run(send);
    expect(again).toMatchObject({
      code: 0,
      document: { submission: 'submission_unknown', notification_detail: null, created: false },
    });
  });
});

describe('who speaks', () => {
  test('is --as, else OSTLER_PEER, else HTALK_PEER; CODEX_THREAD_ID refuses another Codex thread only', async () => {
    using own = await MailCli.withPeers();
    const env = { OSTLER_MAIL_DB: own.db };
    const address = ['--session', sessions.carol, '--workspace', own.workDir];
    await own.run(['peer', 'add', 'carol', '--engine', 'codex', ...address]);
    const sender = async (more: Record<string, string>, ...args: readonly string[]) => {
      const send = ['send', 'bob', '--message', 'x', '--no-notify', ...args];
      const { document } = await own.run(send, { ...env, ...more });
      return document['sender'] ?? document['error'];
    };
    expect(await sender({ OSTLER_PEER: 'carol', HTALK_PEER: 'bob' }, '--as', 'alice')).toBe(
      'alice',
    );
    expect(await sender({ OSTLER_PEER: 'alice', HTALK_PEER: 'carol' })).toBe('alice');
    expect(await sender({ HTALK_PEER: 'carol' })).toBe('carol');
    expect(await sender({ CODEX_THREAD_ID: sessions.carol }, '--as', 'carol')).toBe('carol');
    expect(await sender({ CODEX_THREAD_ID: sessions.bob }, '--as', 'carol')).toBe(
      'actor_conflicts_with_CODEX_THREAD_ID',
    );
    expect(await sender({ CODEX_THREAD_ID: sessions.carol }, '--as', 'alice')).toBe('alice');
  });
});

describe('peers', () => {
  test('are added, checked and listed; a second name, another address and a socket are refused', async () => {
    using own = new MailCli();
    const add = (name: string, session: string, ...args: readonly string[]) =>
      own.run([
        'peer',
        'add',
        name,
        '--engine',
        'claude',
        '--session',
        session,
        '--workspace',
        ...args,
      ]);
    const added = await add('alice', sessions.alice, own.workDir);
    expect(added).toMatchObject({
      code: 0,
      document: {
        name: 'alice',
        harness: 'claude',
        session_id: sessions.alice,
        workspace: own.workDir,
      },
    });
    expect(await add('alice', sessions.alice, own.workDir)).toEqual(added);
    const errors = [
      await add('alice', sessions.bob, own.workDir),
      await add('again', sessions.alice, own.workDir),
      await add('other', sessions.bob, own.workDir, '--socket', '/tmp/s'),
      await add('other', sessions.bob, join(own.dir, 'none')),
    ].map(({ code, document }) => [code, document['error']]);
    expect(errors).toEqual([
      [2, 'peer_already_has_a_different_address'],
      [2, 'session_already_has_a_peer_name'],
      [2, 'claude_socket_is_discovered_from_live_identity'],
      [2, 'workspace_not_found'],
    ]);
    expect((await own.run(['peer', 'list'])).document).toEqual({ peers: [added.document] });
    expect(await own.run(['peer', 'check', 'alice'])).toMatchObject({
      code: 2,
      document: { error: 'ENOENT' },
    });
  });
});

describe('the timeline', () => {
  test('is drawn on a terminal, and a JSON document elsewhere', async () => {
    using own = await MailCli.withPeers();
    const send = ['send', 'bob', '--as', 'alice', '--message', 'Ready?\u001b[2J', '--no-notify'];
    await own.run([...send, '--id', id]);
    const reply = await own.run(['reply', id, '--as', 'bob', '--message', 'Yes.', '--no-notify']);
    const shown = ['show', String(reply.document['id']), '--thread', '--as', 'alice'];
    expect(await own.run(shown)).toMatchObject({
      code: 0,
      document: { id, state: 'reply_received', reply: { body: 'Yes.' } },
    });
    const pty = await spawnPty({
      file: process.execPath,
      args: [main, 'mail', '--db', own.db, ...shown],
      env: { ...own.env, TERM: 'xterm-256color', NO_COLOR: '1' },
      cwd: own.dir,
      cols: 100,
      rows: 20,
    });
    let seen = '';
    pty.onData((data) => {
      seen += Buffer.from(data).toString('utf8');
    });
    await new Promise((resolve) => pty.onExit(resolve));
    const lines = seen.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/gu, 'TIME').split('\r\n');
    expect(lines).toEqual([
      `request ${id}`,
      '●  TIME alice asks bob',
      '│  Ready?\\u{1b}[2J',
      '├─ no notification',
      '●  TIME bob answers alice',
      '│  Yes.',
      '├─ no notification',
      '╰─ not acknowledged by alice yet',
      '',
    ]);
  });
});

test('every verb has help with an example', { timeout: 120_000 }, async () => {
  for (const words of [
    ...[[], ['send'], ['reply'], ['wait'], ['show'], ['ack'], ['inbox'], ['sent'], ['peer']],
    ...[
      ['peer', 'add'],
      ['peer', 'check'],
      ['peer', 'list'],
    ],
  ]) {
    const help = spawnSync(process.execPath, [main, 'mail', ...words, '--help'], {
      env: cli.env,
      encoding: 'utf8',
    });
    expect(help.status).toBe(0);
    expect(help.stdout, words.join(' ')).toMatch(/Examples?:\n {2}(OSTLER_PEER=\w+ )?ostler mail/u);
  }
});
