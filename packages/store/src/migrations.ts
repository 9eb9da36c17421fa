import type { Database } from 'better-sqlite3';

/** `OSTL`, in the database's header. */
export const applicationId = 0x4f53544c;

/**
 * Each step takes the schema from its index to the next version. A step that was released is
 * never edited.
 */
const steps: readonly string[] = [
  `
  CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE instances (
    ordinal INTEGER PRIMARY KEY,
    server_instance_id TEXT NOT NULL UNIQUE,
    opened_at_ms INTEGER NOT NULL,
    -- The newest event when the instance opened, and where its own begin.
    last_event_before INTEGER NOT NULL,
    first_event_id INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE receipts (
    ordinal INTEGER PRIMARY KEY,
    delivery_id TEXT NOT NULL UNIQUE,
    device_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    operation TEXT NOT NULL CHECK (operation IN ('turn.send', 'turn.stop', 'question.answer')),
    state TEXT NOT NULL CHECK (
      state IN ('queued', 'delivered', 'started', 'unknown', 'completed', 'rejected')
    ),
    settled INTEGER NOT NULL GENERATED ALWAYS AS (state IN ('completed', 'rejected')) STORED,
    -- 1: made room for another before its retention was over. Still answers duplicates.
    left_early INTEGER NOT NULL DEFAULT 0 CHECK (left_early IN (0, 1)),
    dispatched INTEGER NOT NULL DEFAULT 0 CHECK (dispatched IN (0, 1)),
    machine_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    server_instance_id TEXT NOT NULL,
    turn_id TEXT,
    error_code TEXT,
    error_message TEXT,
    at_ms INTEGER NOT NULL,
    mode TEXT CHECK (
      mode IN ('direct', 'steering', 'native_queue', 'native_input', 'daemon_queue')
    ),
    phase TEXT CHECK (
      phase IN ('waiting_for_writer', 'waiting_for_user', 'waiting_for_turn', 'submitted',
        'accepted', 'unconfirmed')
    ),
    hold TEXT,
    evidence TEXT,
    text_bytes INTEGER,
    last_event_id INTEGER NOT NULL,
    UNIQUE (device_id, idempotency_key),
    CHECK ((mode IS NULL) = (phase IS NULL)),
    CHECK ((error_code IS NULL) = (error_message IS NULL)),
    CHECK (left_early = 0 OR settled = 1)
  ) STRICT;
  CREATE INDEX receipts_settled ON receipts (device_id, left_early, at_ms) WHERE settled = 1;
  CREATE INDEX receipts_unresolved ON receipts (agent_id, ordinal) WHERE settled = 0;

  CREATE TABLE dispatches (
    delivery INTEGER PRIMARY KEY REFERENCES receipts (ordinal) ON DELETE CASCADE,
    mode TEXT,
    pid INTEGER,
    start_time TEXT,
    fingerprint TEXT,
    at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE dispatch_steps (
    ordinal INTEGER PRIMARY KEY,
    delivery INTEGER NOT NULL REFERENCES dispatches (delivery) ON DELETE CASCADE,
    step TEXT NOT NULL CHECK (
      step IN ('paste_begun', 'paste_written', 'enter_begun', 'enter_written')
    ),
    at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX dispatch_steps_by_delivery ON dispatch_steps (delivery);

  CREATE TABLE events (
    event_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    agent_id TEXT,
    device_id TEXT,
    payload TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE results (
    result_id TEXT PRIMARY KEY,
    event_id INTEGER NOT NULL UNIQUE,
    agent_id TEXT,
    device_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX results_of_device ON results (device_id, event_id);

  -- Which delivery each consumed entry of an engine's record was seen to be.
  CREATE TABLE consumed_inputs (
    ordinal INTEGER PRIMARY KEY,
    agent_id TEXT NOT NULL,
    input_ref TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    turn_ref TEXT,
    at_ms INTEGER NOT NULL,
    UNIQUE (agent_id, input_ref)
  ) STRICT;

  -- Turns whose end was told.
  CREATE TABLE ended_turns (
    ordinal INTEGER PRIMARY KEY,
    turn_id TEXT NOT NULL UNIQUE
  ) STRICT;
  `,
];

/** The version this code writes. */
export const schemaVersion: number = steps.length;

export function versionOf(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}

/** Brings the schema to `schemaVersion` in one transaction: all steps or none. */
export function migrate(database: Database): void {
  const from = versionOf(database);
  if (from === schemaVersion) return;
  database.transaction(() => {
    for (const step of steps.slice(from)) database.exec(step);
    database.pragma(`user_version = ${schemaVersion}`);
    database.pragma(`application_id = ${applicationId}`);
  })();
}
