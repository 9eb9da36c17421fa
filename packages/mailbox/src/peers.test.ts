import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeOf, sessions, testMailbox } from './testing/test-mailbox.js';

const free = '44444444-4444-4444-8444-444444444444';

test('an address is immutable: the same again is nothing new, another is refused', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  const before = mailbox.peers();
  const same = { name: 'alice', harness: 'north', sessionId: sessions.alice };
  expect(mailbox.addPeer({ ...same, workspace: join(world.dir, 'alice') })).toEqual(before[0]);
  const elsewhere = { ...same, workspace: join(world.dir, 'bob') };
  expect(await codeOf(() => mailbox.addPeer(elsewhere))).toBe(
    'peer_already_has_a_different_address',
  );
  const other = { ...same, sessionId: free, workspace: join(world.dir, 'alice') };
  expect(await codeOf(() => mailbox.addPeer(other))).toBe('peer_already_has_a_different_address');
  const withSocket = { ...same, workspace: join(world.dir, 'alice'), socket: '/nowhere/s' };
  expect(await codeOf(() => mailbox.addPeer(withSocket))).toBe(
    'peer_already_has_a_different_address',
  );
  expect(mailbox.peers()).toEqual(before);
});

test('one session has one name; the same id with another engine is another session', async () => {
  using world = testMailbox();
  const { dir, mailbox } = world;
  const second = { name: 'alias', sessionId: sessions.alice, workspace: dir };
  expect(await codeOf(() => mailbox.addPeer({ ...second, harness: 'north' }))).toBe(
    'session_already_has_a_peer_name',
  );
  expect(mailbox.addPeer({ ...second, harness: 'south' })).toMatchObject({ name: 'alias' });
});

test('names are 1 to 64 of a–z, 0–9, _ and -, beginning with a letter or digit', async () => {
  using world = testMailbox();
  const add = (name: string): Promise<string> =>
    codeOf(() =>
      world.mailbox.addPeer({ name, harness: 'north', sessionId: free, workspace: world.dir }),
    );
  for (const name of ['', '-a', '_a', 'A', 'ä', 'a b', 'a'.repeat(65), 'a\n', '../a', 'a.b']) {
    expect(await add(name), JSON.stringify(name)).toBe('invalid_peer_name');
  }
  expect(await add(`0${'a_-'.repeat(21)}`)).toBe('nothing was refused');
});

test('a workspace exists, is a directory, and is stored with its links resolved', async () => {
  using world = testMailbox();
  const { dir, mailbox } = world;
  const add = (workspace: string, name: string, sessionId = free): unknown =>
    mailbox.addPeer({ name, harness: 'north', sessionId, workspace });
  writeFileSync(join(dir, 'file'), '');
  mkdirSync(join(dir, 'real'));
  symlinkSync(join(dir, 'real'), join(dir, 'link'));
  expect(await codeOf(() => add(join(dir, 'none'), 'x'))).toBe('workspace_not_found');
  expect(await codeOf(() => add(join(dir, 'file'), 'x'))).toBe('workspace_must_be_a_directory');
  expect(add(join(dir, 'link'), 'x')).toMatchObject({ workspace: join(dir, 'real') });
  // The same place by another way is the same address.
  expect(add(join(dir, 'real', '..', 'real'), 'x')).toMatchObject({ name: 'x' });
});

test('an id is a UUID, in its one form; engines and sockets are those that have a door', async () => {
  using world = testMailbox();
  const { dir, mailbox } = world;
  const add = (over: object): unknown =>
    mailbox.addPeer({ name: 'x', harness: 'north', sessionId: free, workspace: dir, ...over });
  expect(await codeOf(() => add({ sessionId: 'not-a-uuid' }))).toBe('invalid_uuid');
  expect(await codeOf(() => add({ harness: 'west' }))).toBe('unsupported_harness');
  expect(await codeOf(() => add({ harness: 'south', socket: '/s' }))).toBe('south_takes_no_socket');
  expect(add({ sessionId: free.toUpperCase(), socket: join(dir, 'none.sock') })).toMatchObject({
    session_id: free,
    socket: join(dir, 'none.sock'),
  });
});

test('the file is 0600 and its new directories 0700, whatever the umask', async () => {
  const before = process.umask(0o000);
  try {
    for (const mask of [0o000, 0o077, 0o177]) {
      process.umask(mask);
      using world = testMailbox();
      await world.mailbox.send('alice', 'bob', 'hello');
      for (const suffix of ['', '-wal', '-shm']) {
        expect(statSync(`${world.path}${suffix}`).mode & 0o777, suffix).toBe(0o600);
      }
      expect(statSync(join(world.dir, 'mail')).mode & 0o777).toBe(0o700);
    }
  } finally {
    process.umask(before);
  }
});

test('a file that was open to others is closed; a directory that was there stays as it is', () => {
  using world = testMailbox();
  world.mailbox[Symbol.dispose]();
  chmodSync(world.path, 0o644);
  chmodSync(join(world.dir, 'mail'), 0o755);
  using again = world.again();
  expect(again.peers()).toHaveLength(3);
  expect(statSync(world.path).mode & 0o777).toBe(0o600);
  expect(statSync(join(world.dir, 'mail')).mode & 0o777).toBe(0o755);
});

test('an unknown peer is neither sender nor recipient, reads nothing, and is not checked', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  for (const act of [
    () => mailbox.send('nobody', 'bob', 'x'),
    () => mailbox.send('alice', 'nobody', 'x'),
    () => mailbox.inbox('nobody'),
    () => mailbox.sent('nobody'),
    () => mailbox.checkPeer('nobody'),
  ]) {
    expect(await codeOf(act)).toBe('unknown_peer');
  }
  expect(await mailbox.checkPeer('alice')).toMatchObject({ kind: 'found' });
});
