import type { Database, Statement } from 'better-sqlite3';
import { errorCodeOf, fromSqlite, storeError } from './store-errors.js';

/** `disk`: on the disk when committed. `process`: outlives the process, not a power cut. */
export type Durability = 'disk' | 'process';

/**
 * The one connection. Everything that writes goes through `transact`, which commits whole,
 * or takes all of it back and throws in our codes.
 */
export class StoreDatabase {
  readonly connection: Database;
  readonly path: string;
  readonly #begin: Statement<[]>;
  readonly #commit: Statement<[]>;
  readonly #rollback: Statement<[]>;
  #durability: Durability | null = null;
  #failure: unknown = null;
  #takenBack: () => void = () => undefined;

  constructor(connection: Database, path: string) {
    this.connection = connection;
    this.path = path;
    this.#begin = connection.prepare('BEGIN IMMEDIATE');
    this.#commit = connection.prepare('COMMIT');
    this.#rollback = connection.prepare('ROLLBACK');
  }

  /** Calls `listener` after a transaction that didn't commit, so that memory follows the disk. */
  onTakenBack(listener: () => void): void {
    this.#takenBack = listener;
  }

  transact<Result>(durability: Durability, body: () => Result): Result {
    this.#ensureUsable();
    try {
      this.#require(durability);
      this.#begin.run();
      const result = body();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#takeBack();
      this.#takenBack();
      throw this.#translate(error);
    }
  }

  read<Result>(body: () => Result): Result {
    this.#ensureUsable();
    try {
      return body();
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** Idempotent. */
  close(): void {
    this.connection.close();
  }

  /** The pragma acts on the next transaction; it is only sent when it changes. */
  #require(durability: Durability): void {
    if (this.#durability === durability) return;
    this.connection.exec(`PRAGMA synchronous = ${durability === 'disk' ? 'FULL' : 'NORMAL'}`);
    this.#durability = durability;
  }

  #takeBack(): void {
    if (!this.connection.open || !this.connection.inTransaction) return;
    try {
      this.#rollback.run();
    } catch (error) {
      // Whether the transaction is gone can't be told any more: nothing further may be built on it.
      this.#failure ??= error;
    }
  }

  /**
   * After a failed fsync the kernel may call the next one good though data is lost, and a
   * damaged page may spread: then the connection takes no more writes.
   */
  #translate(error: unknown): unknown {
    const code = errorCodeOf(error);
    const lasting =
      code.startsWith('SQLITE_CORRUPT') ||
      code.startsWith('SQLITE_NOTADB') ||
      (code.startsWith('SQLITE_IOERR') && code.includes('FSYNC'));
    if (lasting) this.#failure ??= error;
    return fromSqlite(error, this.path);
  }

  #ensureUsable(): void {
    if (!this.connection.open) {
      throw storeError('STORE_CLOSED', 'the store was closed; open it again', this.path);
    }
    if (this.#failure !== null) {
      throw storeError(
        'STORE_IO',
        `an earlier write to ${this.path} failed for good; check the disk and open the store again`,
        this.path,
        this.#failure,
      );
    }
  }
}
