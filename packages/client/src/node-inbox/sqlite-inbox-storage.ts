import { closeSync, openSync } from 'node:fs';
import { type TurnResult, turnResultSchema } from '@ostler/protocol';
import type { Database } from 'better-sqlite3';
import { ClientError } from '../client-error.js';
import type { ResumePoint } from '../cursor.js';
import type {
  OwnKey,
  ResultInboxStorage,
  ResultRef,
  StoredResult,
  Utterance,
  UtteranceState,
} from '../inbox-storage.js';
import { utteranceOf } from '../memory-inbox-storage.js';
import { applicationId, schema, schemaVersion } from './inbox-schema.js';

export interface SqliteInboxOptions {
  /** The inbox's own file, made with mode 0600 where there is none. One process at a time. */
  readonly path: string;
}

/**
 * An inbox's storage in an SQLite file of its own; each step is on the disk when it resolves.
 * Throws ClientError INBOX_STORAGE: better-sqlite3 is not installed, another process has the file,
 * or it is not an inbox's. The file is then left as it is.
 */
export async function openSqliteInboxStorage({
  path,
}: SqliteInboxOptions): Promise<ResultInboxStorage> {
  const Sqlite = await import('better-sqlite3').then(
    (loaded) => loaded.default,
    (cause: unknown) => {
      throw storageError('install better-sqlite3 to keep an inbox in a file', cause);
    },
  );
  let database: Database | null = null;
  try {
    closeSync(openSync(path, 'a', 0o600));
    database = new Sqlite(path, { timeout: 0 });
    // Exclusive: a second process with this file would speak what this one speaks.
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    prepare(database);
    return new SqliteInboxStorage(database);
  } catch (failure) {
    database?.close();
    if (failure instanceof ClientError) throw failure;
    throw storageError(`the inbox ${path} can't be opened; is another process using it?`, failure);
  }
}

function prepare(database: Database): void {
  database.exec('BEGIN IMMEDIATE');
  const version = Number(database.pragma('user_version', { simple: true }));
  const application = Number(database.pragma('application_id', { simple: true }));
  const tables = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as {
    readonly count: number;
  };
  if (version === 0 && application === 0 && tables.count === 0) {
    database.exec(schema);
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${schemaVersion}`);
  } else if (application !== applicationId || version !== schemaVersion) {
    throw storageError(
      'the file is not an inbox of this version; give another path, or the version that wrote it',
    );
  }
  database.exec('COMMIT');
}

interface KeyRow {
  readonly idempotency_key: string;
  readonly machine_id: string;
  readonly agent_id: string;
  readonly added_at_ms: number;
  readonly delivery_id: string | null;
  readonly server_instance_id: string | null;
  readonly state: OwnKey['state'];
}

interface ResultRow {
  readonly payload: string;
  readonly stored_at_ms: number;
  readonly utterance: UtteranceState;
}

class SqliteInboxStorage implements ResultInboxStorage {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  addKey(key: OwnKey, maxOpenKeys: number): Promise<OwnKey | null> {
    return this.#step(() => {
      const kept = this.#key(key.idempotencyKey);
      if (kept) return kept;
      const open = this.#row<{ readonly count: number }>(
        "SELECT count(*) AS count FROM own_keys WHERE state = 'open'",
      );
      if ((open?.count ?? 0) >= maxOpenKeys) return null;
      this.#run(
        `INSERT INTO own_keys (idempotency_key, machine_id, agent_id, added_at_ms, delivery_id, server_instance_id, state)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        key.idempotencyKey,
        key.machineId,
        key.agentId,
        key.addedAtMs,
        key.delivery?.deliveryId ?? null,
        key.delivery?.serverInstanceId ?? null,
        key.state,
      );
      return key;
    });
  }

  key(idempotencyKey: string): Promise<OwnKey | null> {
    return this.#step(() => this.#key(idempotencyKey));
  }

  setDelivery(
    idempotencyKey: string,
    { deliveryId, serverInstanceId }: NonNullable<OwnKey['delivery']>,
  ): Promise<boolean> {
    return this.#step(
      () =>
        this.#run(
          `UPDATE own_keys SET delivery_id = ?, server_instance_id = ?
           WHERE idempotency_key = ? AND delivery_id IS NULL`,
          deliveryId,
          serverInstanceId,
          idempotencyKey,
        ) > 0,
    );
  }

  rejectKey(idempotencyKey: string): Promise<void> {
    return this.#step(() => {
      this.#run(
        "UPDATE own_keys SET state = 'rejected' WHERE idempotency_key = ? AND state = 'open'",
        idempotencyKey,
      );
    });
  }

  openKeys(maxCount: number): Promise<readonly OwnKey[]> {
    return this.#step(() =>
      this.#rows<KeyRow>(
        "SELECT * FROM own_keys WHERE state = 'open' ORDER BY position LIMIT ?",
        maxCount,
      ).map(keyOf),
    );
  }

  result({ resultId, serverInstanceId }: ResultRef): Promise<StoredResult | null> {
    return this.#step(() => {
      const row = this.#row<ResultRow>(
        'SELECT payload, stored_at_ms, utterance FROM results WHERE server_instance_id = ? AND result_id = ?',
        serverInstanceId,
        resultId,
      );
      return row
        ? {
            result: resultOf(row),
            storedAtMs: row.stored_at_ms,
            utterance: row.utterance,
          }
        : null;
    });
  }

  storeResult(result: TurnResult, storedAtMs: number): Promise<boolean> {
    return this.#step(() => {
      const { correlation, resultId, serverInstanceId } = result;
      const added = this.#run(
        `INSERT INTO results (server_instance_id, result_id, payload, stored_at_ms, utterance)
         VALUES (?, ?, ?, ?, 'queued') ON CONFLICT DO NOTHING`,
        serverInstanceId,
        resultId,
        JSON.stringify(result),
        storedAtMs,
      );
      if (added === 0) return false;
      for (const { idempotencyKey } of correlation.inputs) {
        this.#run(
          "UPDATE own_keys SET state = 'answered' WHERE idempotency_key = ?",
          idempotencyKey,
        );
      }
      return true;
    });
  }

  utterances(state: UtteranceState, maxCount: number): Promise<readonly Utterance[]> {
    return this.#step(() =>
      this.#rows<ResultRow>(
        'SELECT payload, stored_at_ms, utterance FROM results WHERE utterance = ? ORDER BY position LIMIT ?',
        state,
        maxCount,
      ).map((row) => utteranceOf(resultOf(row))),
    );
  }

  moveUtterance(ref: ResultRef, from: UtteranceState, to: UtteranceState): Promise<boolean> {
    return this.#step(
      () =>
        this.#run(
          'UPDATE results SET utterance = ? WHERE server_instance_id = ? AND result_id = ? AND utterance = ?',
          to,
          ref.serverInstanceId,
          ref.resultId,
          from,
        ) > 0,
    );
  }

  doubtPlaying(): Promise<number> {
    return this.#step(() =>
      this.#run("UPDATE results SET utterance = 'uncertain' WHERE utterance = 'playing'"),
    );
  }

  resumePoint(): Promise<ResumePoint | null> {
    return this.#step(() => {
      const row = this.#row<{ readonly server_instance_id: string; readonly cursor: number }>(
        'SELECT server_instance_id, cursor FROM resume_point',
      );
      return row ? { serverInstanceId: row.server_instance_id, cursor: row.cursor } : null;
    });
  }

  setResumePoint({ cursor, serverInstanceId }: ResumePoint): Promise<void> {
    return this.#step(() => {
      this.#run(
        'INSERT OR REPLACE INTO resume_point (only_row, server_instance_id, cursor) VALUES (1, ?, ?)',
        serverInstanceId,
        cursor,
      );
    });
  }

  prune(beforeMs: number): Promise<void> {
    return this.#step(() => {
      const settled = `stored_at_ms < ? AND utterance IN ('spoken', 'uncertain')`;
      this.#run(
        `DELETE FROM own_keys WHERE idempotency_key IN (
           SELECT json_extract(member.value, '$.idempotencyKey')
           FROM results, json_each(results.payload, '$.correlation.inputs') AS member
           WHERE ${settled})`,
        beforeMs,
      );
      this.#run(`DELETE FROM results WHERE ${settled}`, beforeMs);
      this.#run("DELETE FROM own_keys WHERE state <> 'answered' AND added_at_ms < ?", beforeMs);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }

  #key(idempotencyKey: string): OwnKey | null {
    const row = this.#row<KeyRow>(
      'SELECT * FROM own_keys WHERE idempotency_key = ?',
      idempotencyKey,
    );
    return row ? keyOf(row) : null;
  }

  /** One transaction; rejects with INBOX_STORAGE, and then nothing of it was kept. */
  #step<Result>(body: () => Result): Promise<Result> {
    try {
      return Promise.resolve(this.#database.transaction(body).immediate());
    } catch (failure) {
      return Promise.reject(storageError('a step of the inbox was not written', failure));
    }
  }

  #run(sql: string, ...values: readonly (string | number | null)[]): number {
    return this.#database.prepare(sql).run(...values).changes;
  }

  #row<Row>(sql: string, ...values: readonly (string | number)[]): Row | undefined {
    return this.#database.prepare(sql).get(...values) as Row | undefined;
  }

  #rows<Row>(sql: string, ...values: readonly (string | number)[]): readonly Row[] {
    return this.#database.prepare(sql).all(...values) as readonly Row[];
  }
}

function keyOf(row: KeyRow): OwnKey {
  const { delivery_id: deliveryId, server_instance_id: serverInstanceId } = row;
  return {
    idempotencyKey: row.idempotency_key,
    machineId: row.machine_id,
    agentId: row.agent_id,
    addedAtMs: row.added_at_ms,
    delivery:
      deliveryId !== null && serverInstanceId !== null ? { deliveryId, serverInstanceId } : null,
    state: row.state,
  };
}

/** Throws where the file's row is no result. */
function resultOf({ payload }: ResultRow): TurnResult {
  return turnResultSchema.parse(JSON.parse(payload));
}

function storageError(message: string, cause?: unknown): ClientError {
  return new ClientError('INBOX_STORAGE', 'not_carried_out', message, { cause });
}
