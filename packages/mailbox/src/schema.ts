import type { FoundFile } from '@ostler/store/sqlite';
import { mailError } from './mail-error.js';

/**
 * The one place that knows the shared file's tables: schema version 1, as `harness-talk` 0.1.1
 * publishes it (https://pypi.org/project/harness-talk/0.1.1/). That program inserts peers by
 * position and refuses other versions, so these tables are never altered: no column, no index,
 * no trigger. What is ours alone would stand in tables of its own, named `ostler_…`.
 *
 * Times are seconds since the Unix epoch as floating point numbers.
 */
export const sharedSchemaVersion = 1;

export const sharedSchema = `
CREATE TABLE IF NOT EXISTS peers (
  name TEXT PRIMARY KEY,
  harness TEXT NOT NULL,
  session_id TEXT NOT NULL,
  workspace TEXT NOT NULL,
  socket TEXT,
  UNIQUE (harness, session_id)
);
CREATE TABLE IF NOT EXISTS messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT UNIQUE NOT NULL,
  sender TEXT NOT NULL REFERENCES peers (name),
  recipient TEXT NOT NULL REFERENCES peers (name),
  in_reply_to TEXT UNIQUE REFERENCES messages (id),
  body TEXT NOT NULL,
  created_at REAL NOT NULL,
  ack_at REAL,
  submission TEXT NOT NULL CHECK (
    submission IN ('not_submitted', 'submission_unknown', 'submitted')
  ),
  notification_started_at REAL,
  notification_finished_at REAL,
  notification_detail TEXT
);
`;

const columns: Readonly<Record<string, readonly string[]>> = {
  peers: ['name', 'harness', 'session_id', 'workspace', 'socket'],
  messages: [
    'seq',
    'id',
    'sender',
    'recipient',
    'in_reply_to',
    'body',
    'created_at',
    'ack_at',
    'submission',
    'notification_started_at',
    'notification_finished_at',
    'notification_detail',
  ],
};

/**
 * Whether a file that was there has its tables. A version 0 with some of them is one that
 * another program is making right now, or began and did not finish.
 * Throws CodedError unsupported_database_version, not_a_mailbox_database.
 */
export function inspectShared(found: FoundFile): 'complete' | 'needs_schema' {
  if (found.version !== 0 && found.version !== sharedSchemaVersion) {
    throw mailError(
      'unsupported_database_version',
      `the database has schema version ${found.version} and this program knows ${sharedSchemaVersion}; it was left as it is. Use another --db, or a program of that version`,
    );
  }
  const foreign = found.tables.filter(
    (name) => !(name in columns) && !name.startsWith('sqlite_') && !name.startsWith('ostler_'),
  );
  if (found.version === 0 && foreign.length > 0) throw notAMailbox(`it has a table ${foreign[0]}`);
  let complete = found.version === sharedSchemaVersion;
  for (const [table, needed] of Object.entries(columns)) {
    const there = found.columnsOf(table);
    if (there.length === 0) complete = false;
    else {
      const missing = needed.find((column) => !there.includes(column));
      if (missing !== undefined) throw notAMailbox(`${table} has no column ${missing}`);
    }
  }
  return complete ? 'complete' : 'needs_schema';
}

function notAMailbox(why: string): Error {
  return mailError(
    'not_a_mailbox_database',
    `the database is not a mailbox (${why}); it was left as it is. Name another with --db`,
  );
}
