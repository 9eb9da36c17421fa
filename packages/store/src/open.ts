import { closeSync, linkSync, lstatSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, type Ids, randomIds } from '@ostler/runtime';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { StoreDatabase } from './database.js';
import type { Instance } from './events.js';
import { type StoreLimits, storeLimits } from './limits.js';
import { holdDirectory } from './lock.js';
import { applicationId, migrate, schemaVersion, versionOf } from './migrations.js';
import type { ReceiptStore } from './receipt-store.js';
import { SqliteReceiptStore } from './sqlite-receipt-store.js';
import { databaseName, fromFileSystem, prepareStateDir, syncDirectory } from './state-dir.js';
import { errorCodeOf, fromSqlite, storeError } from './store-errors.js';

export interface StoreOptions {
  /** Made if it isn't there. 0700, its files 0600. On a local disk. */
  readonly stateDir: string;
  readonly clock: Clock;
  readonly ids?: Ids;
  readonly limits?: Partial<StoreLimits>;
}

/** How long an opener waits for another one's check to end. A store in use is refused at once. */
const openerWaitMs = 1000;
/** A larger file gets the check of its header and schema alone, so that opening stays bounded. */
const maxFullCheckBytes: number = 256 * 1024 * 1024;
const instancesKeptCount = 32;
/**
 * Ids left out at each open. A power cut takes back at most as many events as fit the log
 * between two checkpoints (1,000 pages); none of their ids is used again.
 */
const eventIdGapCount = 1024;
const walSizeBytes: number = 4 * 1024 * 1024;
const unfinishedSuffix = '.unfinished';

/**
 * Opens the store of a state directory, and makes it on first use. It is held for the life of
 * the store, by one process at a time; the death of the process, however it comes, lets it go.
 *
 * Throws CodedError: STORE_LOCKED, STORE_CORRUPT and STORE_TOO_NEW (both leave the files as
 * they are), STORE_DIR_UNWRITABLE, STORE_DIR_SHARED, STORE_READ_ONLY, STORE_FULL, STORE_IO,
 * STORE_OPTION_INVALID.
 */
export function openStore(options: StoreOptions): ReceiptStore {
  const limits = storeLimits(options.limits);
  const ids = options.ids ?? randomIds;
  const dir = prepareStateDir(options.stateDir);
  const path = join(dir, databaseName);
  const hold = holdDirectory(dir);
  let connection: Database | undefined;
  try {
    if (!exists(path)) create(dir, path, ids);
    check(path);
    connection = connect(path, limits);
    migrate(connection);
    removeLeftovers(dir);
    const database = new StoreDatabase(connection, path);
    const instance = beginInstance(database, options.clock, ids, limits);
    return new SqliteReceiptStore({ database, instance, limits, clock: options.clock, ids, hold });
  } catch (error) {
    connection?.close();
    hold[Symbol.dispose]();
    throw fromFileSystem(fromSqlite(error, path), path);
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Makes a whole store beside its place and links it there, so that an empty or half-made file
 * is never a beginning: it is damage, and refused. Of two processes doing this one succeeds.
 */
function create(dir: string, path: string, ids: Ids): void {
  if (exists(`${path}-wal`) && !exists(path)) {
    throw storeError(
      'STORE_CORRUPT',
      `${path} is gone, but its log ${path}-wal is there; restore both from a backup, or move the log away`,
      path,
    );
  }
  const unfinished = join(dir, `${databaseName}.${ids.uuid()}${unfinishedSuffix}`);
  try {
    // SQLite gives its log the mode of the database.
    closeSync(openSync(unfinished, 'wx', 0o600));
    const connection = new SqliteDatabase(unfinished);
    try {
      migrate(connection);
      connection.prepare(`INSERT INTO meta VALUES ('machine_id', ?)`).run(ids.uuid());
      connection.pragma('journal_mode = WAL');
    } finally {
      connection.close();
    }
    linkSync(unfinished, path);
    syncDirectory(dir);
  } catch (error) {
    // Another process was first, and may have cleared ours away.
    if (!exists(path)) throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Looks at what is there through a connection that can't write: a connection that can would
 * fold the log into the file when it closes, and a damaged store is evidence.
 */
function check(path: string): void {
  const connection = new SqliteDatabase(path, { readonly: true, timeout: 0 });
  try {
    const pages = Number(connection.pragma('page_count', { simple: true }));
    if (pages === 0) throw corrupt(path, 'is empty');
    const id = connection.pragma('application_id', { simple: true });
    if (id !== applicationId) throw corrupt(path, 'is not a store');
    const version = versionOf(connection);
    if (version > schemaVersion) {
      throw storeError(
        'STORE_TOO_NEW',
        `${path} was written by a newer version (schema ${version}, this one knows ${schemaVersion}); upgrade, or choose another state directory`,
        path,
      );
    }
    const bytes = pages * Number(connection.pragma('page_size', { simple: true }));
    if (bytes <= maxFullCheckBytes) {
      const verdict = connection.pragma('quick_check(1)', { simple: true });
      if (verdict !== 'ok') throw corrupt(path, 'is damaged', verdict);
    }
    if (version === schemaVersion) machineIdOf(connection, path);
  } catch (error) {
    // Statements that can't be compiled: tables are missing.
    throw errorCodeOf(error) === 'SQLITE_ERROR' ? corrupt(path, 'is incomplete', error) : error;
  } finally {
    connection.close();
  }
}

function corrupt(path: string, what: string, cause?: unknown): unknown {
  return storeError(
    'STORE_CORRUPT',
    `${path} ${what}; it was left as it is. Keep a copy, then restore a backup or move it away`,
    path,
    cause,
  );
}

function machineIdOf(connection: Database, path: string): string {
  const row = connection
    .prepare<[], { value: string }>(`SELECT value FROM meta WHERE key = 'machine_id'`)
    .get();
  if (row === undefined) throw corrupt(path, 'has no machine id');
  return row.value;
}

/** The first statement takes the lock that lasts as long as the connection. */
function connect(path: string, limits: StoreLimits): Database {
  const connection = new SqliteDatabase(path, { fileMustExist: true, timeout: openerWaitMs });
  try {
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('journal_mode = WAL');
    connection.exec('BEGIN EXCLUSIVE; COMMIT');
    connection.pragma('foreign_keys = ON');
    connection.pragma('trusted_schema = OFF');
    connection.pragma('fullfsync = ON');
    connection.pragma(`journal_size_limit = ${walSizeBytes}`);
    const pageBytes = Number(connection.pragma('page_size', { simple: true }));
    connection.pragma(`max_page_count = ${Math.ceil(limits.maxStoreBytes / pageBytes)}`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Under the lock nothing else needs them: what processes left that ended while making a store
 * (one still at it has lost already), and the index of a check (ours is in memory).
 */
function removeLeftovers(dir: string): void {
  for (const name of readdirSync(dir)) {
    const ours = name.startsWith(`${databaseName}.`) && name.includes(unfinishedSuffix);
    if (ours || name === `${databaseName}-shm`) rmSync(join(dir, name), { force: true });
  }
}

function beginInstance(
  database: StoreDatabase,
  clock: Clock,
  ids: Ids,
  limits: StoreLimits,
): Instance {
  const { connection } = database;
  const machineId = machineIdOf(connection, database.path);
  const serverInstanceId = ids.uuid();
  return database.transact('disk', () => {
    const events = connection
      .prepare<[], { newest: number | null }>('SELECT max(event_id) AS newest FROM events')
      .get();
    const instances = connection
      .prepare<[], { newest: number | null }>('SELECT max(first_event_id) AS newest FROM instances')
      .get();
    const newest = events?.newest ?? 0;
    const used = Math.max(newest, instances?.newest ?? 0);
    const firstEventId = used === 0 ? 1 : used + eventIdGapCount;
    connection
      .prepare(
        `INSERT INTO instances (server_instance_id, opened_at_ms, last_event_before, first_event_id)
         VALUES (?, ?, ?, ?)`,
      )
      .run(serverInstanceId, clock.nowMs(), newest, firstEventId);
    connection
      .prepare('DELETE FROM instances WHERE ordinal <= (SELECT max(ordinal) FROM instances) - ?')
      .run(instancesKeptCount);
    connection
      .prepare('DELETE FROM receipts WHERE settled = 1 AND at_ms <= ?')
      .run(clock.nowMs() - limits.settledRetentionMs);
    connection
      .prepare(
        `DELETE FROM events WHERE event_id <=
           (SELECT event_id FROM events ORDER BY event_id DESC LIMIT 1 OFFSET ?)`,
      )
      .run(limits.eventRingCount);
    return { machineId, serverInstanceId, firstEventId };
  });
}
