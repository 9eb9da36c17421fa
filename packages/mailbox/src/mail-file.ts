import type { Clock, Ids } from '@ostler/runtime';
import { isCoded } from '@ostler/runtime';
import { openSharedFile, type SharedDatabase, type SqlStatement } from '@ostler/store/sqlite';
import { mailError } from './mail-error.js';
import { inspectShared, sharedSchema, sharedSchemaVersion } from './schema.js';

export interface MailFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How long a write waits for another program's. Default 10 s. */
  readonly busyWaitMs?: number | undefined;
}

/** The open shared file. A write is on the disk when it returns. */
export class MailFile implements Disposable {
  readonly path: string;
  readonly #clock: Clock;
  readonly #database: SharedDatabase;

  constructor(options: MailFileOptions) {
    this.#clock = options.clock;
    this.#database = translated(() =>
      openSharedFile({
        path: options.path,
        clock: options.clock,
        ids: options.ids,
        schema: sharedSchema,
        schemaVersion: sharedSchemaVersion,
        inspect: inspectShared,
        ...(options.busyWaitMs === undefined ? {} : { busyWaitMs: options.busyWaitMs }),
      }),
    );
    this.path = this.#database.path;
  }

  /** Seconds since the Unix epoch, as the file has them. */
  nowSeconds(): number {
    return this.#clock.nowMs() / 1000;
  }

  prepare(sql: string): SqlStatement {
    return this.#database.prepare(sql);
  }

  write<Result>(body: () => Result): Result {
    return translated(() => this.#database.transact(body));
  }

  read<Result>(body: () => Result): Result {
    return translated(() => this.#database.snapshot(body));
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

function translated<Result>(body: () => Result): Result {
  try {
    return body();
  } catch (failure) {
    if (!isCoded(failure, 'STORE_LOCKED')) throw failure;
    throw mailError('mailbox_busy', 'another program kept the mailbox locked; try again');
  }
}
