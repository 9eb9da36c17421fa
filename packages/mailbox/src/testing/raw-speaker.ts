/*
 * The other program's part in plain SQL, without any of our code but the driver: write locks
 * taken first, and no sign to whoever watches the file. The same as `raw_speaker.py`.
 */
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { randomIds, systemClock } from '@ostler/runtime';
import { openSharedFile, type Row, type SqlValue } from '@ostler/store/sqlite';

const [mode = '', path = '', ...words] = process.argv.slice(2);
const busyWaitMs = 60_000;

const open = (schema = '', schemaVersion = 1, isNew = false) =>
  openSharedFile({
    path,
    clock: systemClock,
    busyWaitMs,
    schema,
    schemaVersion,
    inspect: () => (schema === '' || isNew ? 'complete' : 'needs_schema'),
  });

const nowSeconds = (): number => systemClock.nowMs() / 1000;

function say(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

/** Runs a file of SQL as it stands, into a file with a rollback journal, as theirs have one. */
function make(): void {
  const sql = readFileSync(0, 'utf8');
  const version = Number([...sql.matchAll(/user_version\s*=\s*(-?\d+)/gu)].at(-1)?.[1] ?? 0);
  const isNew = words[0] === 'new';
  using database = open(sql, version, isNew);
  if (isNew) database.prepare('PRAGMA journal_mode = DELETE').get();
}

if (mode === 'make') {
  make();
} else {
  using database = open();
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const transaction = <Result>(body: () => Result): Result => {
    begin.run();
    const result = body();
    commit.run();
    return result;
  };
  const rows = (sql: string, ...values: SqlValue[]): readonly Row[] =>
    database.prepare(sql).all(...values);
  const insertRow = database.prepare(
    `INSERT INTO messages (id, sender, recipient, in_reply_to, body, created_at, submission)
     VALUES (?, ?, ?, ?, ?, ?, 'not_submitted')`,
  );
  const insert = (sender: string, recipient: string, to: string | null, body: string): void => {
    insertRow.run(randomIds.uuid(), sender, recipient, to, body, nowSeconds());
  };
  const claimRow = database.prepare(
    `UPDATE messages SET submission = 'submission_unknown', notification_started_at = ?
     WHERE id = ? AND notification_started_at IS NULL`,
  );
  const finishRow = database.prepare(
    `UPDATE messages SET submission = 'submitted', notification_detail = 'raw',
     notification_finished_at = ? WHERE id = ?`,
  );
  const claim = (id: string): void => {
    if (transaction(() => claimRow.run(nowSeconds(), id)) === 0) return;
    appendFileSync(process.env['NOTIFIED'] ?? '/dev/null', `${id}\n`);
    transaction(() => finishRow.run(nowSeconds(), id));
  };
  const inboxRows = database.prepare(
    `SELECT id, in_reply_to, body, sender FROM messages AS m WHERE recipient = ? AND
     ((in_reply_to IS NULL AND NOT EXISTS (SELECT 1 FROM messages r WHERE r.in_reply_to = m.id))
      OR (in_reply_to IS NOT NULL AND ack_at IS NULL)) ORDER BY seq`,
  );
  const ackRow = database.prepare('UPDATE messages SET ack_at = coalesce(ack_at, ?) WHERE id = ?');
  const exchange = (me: string, other: string, count: number): void => {
    let asked = 0;
    let answered = 0;
    let acknowledged = 0;
    while (asked < count || answered < count || acknowledged < count) {
      if (asked < count) {
        const body = `${me} asks ${asked}`;
        transaction(() => insert(me, other, null, body));
        asked += 1;
      }
      for (const row of inboxRows.all(me).slice(0, 8)) {
        const id = String(row['id']);
        if (row['in_reply_to'] === null) {
          const body = `${me} answers: ${String(row['body'])}`;
          transaction(() => insert(me, String(row['sender']), id, body));
          answered += 1;
        } else {
          transaction(() => ackRow.run(nowSeconds(), id));
          acknowledged += 1;
        }
      }
    }
    say({ asked, answered, acknowledged });
  };
  const [first = '', second = '', third = '0'] = words;
  if (mode === 'exchange') exchange(first, second, Number(third));
  else if (mode === 'inbox') say(inboxRows.all(first).map((row) => row['id']));
  else {
    say('ready');
    for await (const _line of createInterface({ input: process.stdin })) break;
    if (mode === 'reply') {
      const [request] = rows('SELECT sender FROM messages WHERE id = ?', second);
      transaction(() => insert(first, String(request?.['sender']), second, third));
    } else {
      for (const row of rows('SELECT id FROM messages ORDER BY seq')) claim(String(row['id']));
    }
    say({ done: true });
  }
}
