import { CodedError } from '@ostler/runtime';

/**
 * `STORE_DIR_UNWRITABLE`: the state directory can't be made or written.
 * `STORE_DIR_SHARED`: others may enter it, and it isn't ours alone to close.
 * `STORE_CORRUPT`: not a store, or a damaged one; left as it is.
 * `STORE_TOO_NEW`: written by a newer version; left as it is.
 * `STORE_LOCKED`: another process has it open.
 * `STORE_FULL`: no space, on the disk or under `maxStoreBytes`.
 * `STORE_READ_ONLY`: the files or their file system can't be written.
 * `STORE_IO`: the disk failed. `STORE_CLOSED`: used after `close`.
 * `STORE_OPTION_INVALID`: a limit that is not a positive whole number.
 * `RESULT_KNOWN`: a result is never changed.
 * `EVENT_TOO_LARGE`, `SETTING_TOO_LARGE`, `TOO_MANY_CHANGES`: the call asks for more than one transaction takes.
 */
export type StoreErrorCode =
  | 'STORE_DIR_UNWRITABLE'
  | 'STORE_DIR_SHARED'
  | 'STORE_CORRUPT'
  | 'STORE_TOO_NEW'
  | 'STORE_LOCKED'
  | 'STORE_FULL'
  | 'STORE_READ_ONLY'
  | 'STORE_IO'
  | 'STORE_CLOSED'
  | 'STORE_OPTION_INVALID'
  | 'EVENT_TOO_LARGE'
  | 'RESULT_KNOWN'
  | 'SETTING_TOO_LARGE'
  | 'TOO_MANY_CHANGES';

export type StoreError = CodedError<StoreErrorCode>;

export function storeError(
  code: StoreErrorCode,
  message: string,
  path: string | null,
  cause?: unknown,
): StoreError {
  return new CodedError(code, message, {
    ...(cause === undefined ? {} : { cause }),
    ...(path === null ? {} : { details: { path } }),
  });
}

/** The code a thrown system or SQLite error carries, or the empty string. */
export function errorCodeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Says in our codes what SQLite said of the database at `path`; our own errors pass through. */
export function fromSqlite(error: unknown, path: string): unknown {
  if (error instanceof CodedError) return error;
  const code = errorCodeOf(error);
  const is = (...families: string[]): boolean =>
    families.some((family) => code === family || code.startsWith(`${family}_`));
  if (is('SQLITE_BUSY', 'SQLITE_LOCKED')) {
    return storeError(
      'STORE_LOCKED',
      `another process has ${path} open; stop it, or choose another state directory`,
      path,
      error,
    );
  }
  if (is('SQLITE_CORRUPT', 'SQLITE_NOTADB')) {
    return storeError(
      'STORE_CORRUPT',
      `${path} is damaged or not a store; it was left as it is. Keep a copy, then restore a backup or move it away`,
      path,
      error,
    );
  }
  if (is('SQLITE_FULL')) {
    return storeError(
      'STORE_FULL',
      `no space left for ${path}; free some and try again`,
      path,
      error,
    );
  }
  if (is('SQLITE_READONLY')) {
    return storeError(
      'STORE_READ_ONLY',
      `${path} can't be written; check its owner, its mode and how its file system is mounted`,
      path,
      error,
    );
  }
  if (is('SQLITE_IOERR', 'SQLITE_CANTOPEN', 'SQLITE_PROTOCOL', 'SQLITE_NOMEM')) {
    return storeError(
      'STORE_IO',
      `reading or writing ${path} failed (${code}); check the disk and open the store again`,
      path,
      error,
    );
  }
  return error;
}
