import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@ostler/runtime';
import { openSharedFile } from '@ostler/store/sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailDoors } from './verbs.js';

const sessionId = '01a22ea4-0000-7000-8000-000000000001';
let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ostler-saved-')));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A client's own database, as far as it is read. */
function clientDatabase(archived = 0): string {
  const path = join(dir, '.codex', 'state_5.sqlite');
  using database = openSharedFile({
    path,
    clock: systemClock,
    schema: 'CREATE TABLE threads (id TEXT, cwd TEXT, archived INTEGER, source TEXT)',
    schemaVersion: 1,
    inspect: () => 'complete',
  });
  database.prepare('INSERT INTO threads VALUES (?, ?, ?, ?)').run(sessionId, dir, archived, 'cli');
  database.prepare('PRAGMA journal_mode = DELETE').get();
  return path;
}

const check = async () => {
  const door = mailDoors({ HOME: dir }).find(({ engine }) => engine === 'codex');
  return await door?.checkIdentity({ sessionId, workspace: dir, socket: null });
};

test("the client's own database is read, and left as it is", async () => {
  const path = clientDatabase();
  const before = readFileSync(path);
  expect(await check()).toMatchObject({
    kind: 'found',
    evidence: { session_id: sessionId, metadata_source: path, runtime_status: 'unknown' },
  });
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(join(dir, '.codex'))).toEqual(['state_5.sqlite']);
});

test('an archived thread is refused, and nothing is made where there is none', async () => {
  mkdirSync(join(dir, '.codex'));
  expect(await check()).toMatchObject({ kind: 'refused', reason: 'client_state_not_found' });
  expect(readdirSync(join(dir, '.codex'))).toEqual([]);
  clientDatabase(1);
  expect(await check()).toMatchObject({
    reason: 'recipient_is_not_an_unarchived_codex_cli_session',
  });
});
