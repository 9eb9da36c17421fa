import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@ostler/runtime';
import { openSharedFile } from '@ostler/store/sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Mailbox } from './mailbox.js';
import { buildProgram, type Program } from './testing/build-program.js';
import { nodeSpeaker, pythonSpeaker } from './testing/raw-speakers.js';
import { codeOf, fakeDoor, testMailbox } from './testing/test-mailbox.js';

let program: Program;

beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => program[Symbol.dispose]());

/** The other program's way of making its file, in its own words of SQL. */
const asTheyMakeIt = `
  CREATE TABLE IF NOT EXISTS peers (name TEXT PRIMARY KEY, harness TEXT NOT NULL,
    session_id TEXT NOT NULL, workspace TEXT NOT NULL, socket TEXT, UNIQUE(harness, session_id));
  CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL,
    sender TEXT NOT NULL REFERENCES peers(name), recipient TEXT NOT NULL REFERENCES peers(name),
    in_reply_to TEXT UNIQUE REFERENCES messages(id), body TEXT NOT NULL, created_at REAL NOT NULL,
    ack_at REAL, submission TEXT NOT NULL
      CHECK(submission IN ('not_submitted', 'submission_unknown', 'submitted')),
    notification_started_at REAL, notification_finished_at REAL, notification_detail TEXT);
  PRAGMA user_version=1;
`;

const open = (path: string): Mailbox => new Mailbox({ path, doors: [fakeDoor('north')] });

/** Every table, column and constraint of a file, in SQLite's own words, spacing aside. */
function shape(path: string): unknown {
  using file = openSharedFile({
    path,
    clock: systemClock,
    schema: '',
    schemaVersion: 1,
    inspect: () => 'complete',
  });
  const tables = ['peers', 'messages'].map((table) => ({
    columns: file.prepare(`SELECT * FROM pragma_table_info('${table}')`).all(),
    keys: file.prepare(`SELECT * FROM pragma_foreign_key_list('${table}')`).all(),
    indexes: file.prepare(`SELECT * FROM pragma_index_list('${table}')`).all(),
  }));
  const sql = file
    .prepare(`SELECT sql FROM sqlite_schema WHERE name IN ('peers', 'messages')`)
    .all();
  const words = sql.map((row) => String(row['sql']).replaceAll(/[\s"]+|IF NOT EXISTS/gu, ''));
  return { tables, words, version: file.prepare('PRAGMA user_version').get() };
}

for (const [speaker, name] of [
  [nodeSpeaker, 'a Node program'],
  [pythonSpeaker, 'a Python program'],
] as const) {
  describe.skipIf(speaker === null)(`files that ${name} makes in plain SQL`, () => {
    const make = (path: string, sql: string): void => speaker?.make(program, path, sql);

    test('a new file of ours has exactly the tables of theirs', () => {
      using world = testMailbox();
      const theirs = join(world.dir, 'theirs.sqlite3');
      make(theirs, asTheyMakeIt);
      expect(shape(world.path)).toEqual(shape(theirs));
    });

    test('a file of theirs opens, is used, and keeps its journal mode', async () => {
      using world = testMailbox();
      const path = join(world.dir, 'theirs.sqlite3');
      make(path, asTheyMakeIt);
      const before = shape(path);
      using mailbox = open(path);
      for (const [name, last] of [
        ['one', '1'],
        ['two', '2'],
      ] as const) {
        const sessionId = `44444444-4444-4444-8444-44444444444${last}`;
        mailbox.addPeer({ name, harness: 'north', sessionId, workspace: world.dir });
      }
      await mailbox.send('one', 'two', 'hello', { notify: false });
      const seen = speaker?.start(program, ['inbox', path, 'two']);
      expect((await seen?.ended)?.said).toEqual([mailbox.inbox('two').map(({ id }) => id)]);
      // They run their own statements at each start: nothing of ours is touched by that.
      make(path, asTheyMakeIt);
      expect(mailbox.inbox('two')).toHaveLength(1);
      expect(shape(path)).toEqual(before);
      using file = openSharedFile({
        path,
        clock: systemClock,
        schema: '',
        schemaVersion: 1,
        inspect: () => 'complete',
      });
      expect(file.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    });

    test('a file they began and did not finish is finished', () => {
      using world = testMailbox();
      const empty = join(world.dir, 'empty.sqlite3');
      writeFileSync(empty, '');
      const half = join(world.dir, 'half.sqlite3');
      make(
        half,
        asTheyMakeIt.slice(0, asTheyMakeIt.indexOf('CREATE TABLE IF NOT EXISTS messages')),
      );
      for (const path of [empty, half]) {
        open(path)[Symbol.dispose]();
        expect(shape(path)).toEqual(shape(world.path));
      }
    });

    test('what is no mailbox, or a newer one, is refused and left as it was', async () => {
      using world = testMailbox();
      const cases: readonly (readonly [name: string, sql: string, code: string])[] = [
        ['newer', `${asTheyMakeIt} PRAGMA user_version=2;`, 'unsupported_database_version'],
        ['older', `${asTheyMakeIt} PRAGMA user_version=-1;`, 'unsupported_database_version'],
        ['foreign', 'CREATE TABLE recipes (name TEXT);', 'not_a_mailbox_database'],
        ['other peers', 'CREATE TABLE peers (id TEXT);', 'not_a_mailbox_database'],
        [
          'other peers, version 1',
          'CREATE TABLE peers (id TEXT); PRAGMA user_version=1;',
          'not_a_mailbox_database',
        ],
      ];
      const sum = (path: string): string =>
        createHash('sha256').update(readFileSync(path)).digest('hex');
      for (const [name, sql, code] of cases) {
        const path = join(world.dir, `${name}.sqlite3`);
        make(path, sql);
        const before = sum(path);
        expect(await codeOf(() => open(path)), name).toBe(code);
        expect(sum(path), name).toBe(before);
      }
      const text = join(world.dir, 'text.sqlite3');
      writeFileSync(text, 'not a database'.repeat(100));
      expect(await codeOf(() => open(text))).toBe('STORE_CORRUPT');
      expect(readFileSync(text, 'utf8')).toBe('not a database'.repeat(100));
      mkdirSync(join(world.dir, 'directory.sqlite3'));
      expect(await codeOf(() => open(join(world.dir, 'directory.sqlite3')))).toMatch(/^STORE_/u);
    });
  });
}

test('a mailbox that another program keeps locked is busy, and nothing was changed', async () => {
  using world = testMailbox();
  using holder = openSharedFile({
    path: world.path,
    clock: systemClock,
    schema: '',
    schemaVersion: 1,
    inspect: () => 'complete',
  });
  using mailbox = new Mailbox({ path: world.path, doors: [], busyWaitMs: 1 });
  const code = await holder.transact(() => codeOf(() => mailbox.send('alice', 'bob', 'x')));
  expect(code).toBe('mailbox_busy');
  expect(mailbox.sent('alice')).toEqual([]);
});
