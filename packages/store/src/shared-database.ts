import type { Database } from 'better-sqlite3';
import { StoreDatabase } from './database.js';

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export interface SqlStatement {
  get(...values: SqlValue[]): Row | null;
  all(...values: SqlValue[]): readonly Row[];
  /** The number of rows it changed. */
  run(...values: SqlValue[]): number;
}

/**
 * A SQLite file that several programs write. Each transaction takes the write lock first
 * (`BEGIN IMMEDIATE`), is on the disk when `transact` returns, and is taken back whole when
 * its body throws. Throws StoreError; STORE_LOCKED when another program kept the lock too long.
 */
export class SharedDatabase implements Disposable {
  readonly path: string;
  readonly #database: StoreDatabase;
  readonly #committed: () => void;

  /** `committed` is called after each transaction that is on the disk. */
  constructor(connection: Database, path: string, committed: () => void = () => undefined) {
    this.path = path;
    this.#database = new StoreDatabase(connection, path);
    this.#committed = committed;
  }

  prepare(sql: string): SqlStatement {
    const database = this.#database;
    const statement = database.read(() => database.connection.prepare<SqlValue[], Row>(sql));
    return {
      get: (...values) => database.read(() => statement.get(...values)) ?? null,
      all: (...values) => database.read(() => statement.all(...values)),
      run: (...values) => database.read(() => statement.run(...values)).changes,
    };
  }

  /** Commits all that `body` does, or nothing of it. */
  transact<Result>(body: () => Result): Result {
    const result = this.#database.transact('disk', body);
    this.#committed();
    return result;
  }

  /** Several reads of one moment. */
  snapshot<Result>(body: () => Result): Result {
    const database = this.#database;
    return database.read(() => database.connection.transaction(body).deferred());
  }

  /** Idempotent. */
  [Symbol.dispose](): void {
    this.#database.close();
  }
}
