import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Clock, type Ids, randomIds } from '@ostler/runtime';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { SharedDatabase } from './shared-database.js';
import { fromFileSystem, syncDirectory } from './state-dir.js';
import { errorCodeOf, fromSqlite } from './store-errors.js';

export interface SharedFileOptions {
  /** Made with mode 0600, and directories on the way to it with 0700, whatever the umask. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids?: Ids;
  /** How long a write waits for another program's transaction. Default 10 s. */
  readonly busyWaitMs?: number;
  /** Tables of a new file; run in one transaction. */
  readonly schema: string;
  readonly schemaVersion: number;
  /**
   * Looks at a file that was there, before anything is written to it, and throws to refuse
   * it. `version` is its user_version; `columnsOf` is null for a table it hasn't.
   */
  readonly inspect: (found: FoundFile) => 'complete' | 'needs_schema';
}

export interface FoundFile {
  readonly version: number;
  readonly tables: readonly string[];
  columnsOf(table: string): readonly string[];
}

const defaultBusyWaitMs = 10_000;

/**
 * Opens, or makes, a SQLite file that programs of several makers write at one time. The
 * journal mode of a file that is there stays as it is; a new one has a write-ahead log.
 * After each commit the file's time is set, so that whoever watches it wakes.
 *
 * Throws CodedError: STORE_CORRUPT, STORE_DIR_UNWRITABLE, STORE_READ_ONLY, STORE_FULL,
 * STORE_IO, STORE_LOCKED, and what `inspect` throws; then an existing file is as it was.
 */
export function openSharedFile(options: SharedFileOptions): SharedDatabase {
  const path = resolve(options.path);
  let connection: Database | undefined;
  try {
    makePrivateDirectory(dirname(path));
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) makeWhole(path, options);
    closeToOthers(path);
    const needs = inspectReadOnly(path, options);
    connection = new SqliteDatabase(path, {
      fileMustExist: true,
      timeout: options.busyWaitMs ?? defaultBusyWaitMs,
    });
    connection.pragma('foreign_keys = ON');
    connection.pragma('trusted_schema = OFF');
    connection.pragma('fullfsync = ON');
    const ring = (): void => {
      const atSeconds = options.clock.nowMs() / 1000;
      utimesSync(path, atSeconds, atSeconds);
    };
    const database = new SharedDatabase(connection, path, ring);
    if (needs === 'needs_schema') {
      const open = connection;
      database.transact(() => applySchema(open, options));
    }
    return database;
  } catch (error) {
    connection?.close();
    throw fromFileSystem(fromSqlite(error, path), path);
  }
}

/** Directories that are there stay as they are: they may be shared on purpose. */
function makePrivateDirectory(dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(dir) !== dir) makePrivateDirectory(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
    chmodSync(dir, 0o700);
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST' || !statSync(dir).isDirectory()) throw error;
  }
}

/** By path, never through a descriptor: closing one would let SQLite's locks on the file go. */
function closeToOthers(path: string): void {
  const { mode, uid } = statSync(path);
  if ((mode & 0o777) !== 0o600 && uid === process.getuid?.()) chmodSync(path, 0o600);
}

/**
 * Makes a whole file beside its place and links it there: nobody ever opens half of one, and
 * of several that do this at once one succeeds.
 */
function makeWhole(path: string, options: SharedFileOptions): void {
  const unfinished = `${path}.${(options.ids ?? randomIds).uuid()}.unfinished`;
  try {
    closeSync(openSync(unfinished, 'wx', 0o600));
    chmodSync(unfinished, 0o600);
    const connection = new SqliteDatabase(unfinished);
    try {
      connection.transaction(() => applySchema(connection, options))();
      connection.pragma('journal_mode = WAL');
    } finally {
      connection.close();
    }
    linkSync(unfinished, path);
    syncDirectory(dirname(path));
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function applySchema(connection: Database, options: SharedFileOptions): void {
  connection.exec(options.schema);
  connection.pragma(`user_version = ${options.schemaVersion}`);
}

/** Through a connection that can't write: what is refused stays as it was found. */
function inspectReadOnly(path: string, options: SharedFileOptions): 'complete' | 'needs_schema' {
  const connection = new SqliteDatabase(path, {
    readonly: true,
    timeout: options.busyWaitMs ?? defaultBusyWaitMs,
  });
  try {
    const names = connection
      .prepare<[], { name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
      .all();
    return options.inspect({
      version: Number(connection.pragma('user_version', { simple: true })),
      tables: names.map(({ name }) => name),
      columnsOf: (table) =>
        connection
          .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?)')
          .all(table)
          .map(({ name }) => name),
    });
  } finally {
    connection.close();
  }
}
