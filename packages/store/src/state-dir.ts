import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorCodeOf, storeError } from './store-errors.js';

export const databaseName = 'ostler.db';

/**
 * Makes the state directory, or checks the one there is, and closes it to others (0700).
 * Returns its absolute path. A directory that others may enter and that holds anything
 * but a store is refused, not changed: it may be somebody's home.
 */
export function prepareStateDir(stateDir: string): string {
  const dir = resolve(stateDir);
  try {
    make(dir);
    const { mode, uid } = statSync(dir);
    const ours = process.getuid === undefined || uid === process.getuid() || process.getuid() === 0;
    if ((mode & 0o077) !== 0 || !ours) {
      const names = readdirSync(dir);
      if (!ours || (names.length > 0 && !names.includes(databaseName))) {
        throw storeError(
          'STORE_DIR_SHARED',
          `${dir} is open to other users; choose a directory of its own, or chmod 700 it`,
          dir,
        );
      }
      chmodSync(dir, 0o700);
    }
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    closeFiles(dir);
  } catch (error) {
    throw fromFileSystem(error, dir);
  }
  return dir;
}

function make(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Node says ENOENT for whatever kept a directory on the way from being made.
    if (errorCodeOf(error) !== 'ENOENT') throw error;
    let parent = dirname(dir);
    while (statSync(parent, { throwIfNoEntry: false }) === undefined) parent = dirname(parent);
    accessSync(parent, constants.W_OK | constants.X_OK);
    throw error;
  }
}

/** Puts the directory's entries on the disk. */
export function syncDirectory(dir: string): void {
  const handle = openSync(dir, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** By path, never through a descriptor: closing one would let SQLite's lock on the file go. */
function closeFiles(dir: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    const path = join(dir, `${databaseName}${suffix}`);
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    if (mode === undefined) continue;
    if ((mode & 0o077) !== 0) chmodSync(path, 0o600);
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw storeError(
        'STORE_READ_ONLY',
        `${path} can't be read and written; check its owner and mode`,
        path,
        error,
      );
    }
  }
}

/** Says in our codes what the file system said of `path`; our own errors pass through. */
export function fromFileSystem(error: unknown, path: string): unknown {
  switch (errorCodeOf(error)) {
    case 'EROFS':
      return storeError(
        'STORE_READ_ONLY',
        `the file system of ${path} is mounted read-only; choose a state directory that can be written`,
        path,
        error,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return storeError('STORE_FULL', `no space left for ${path}; free some`, path, error);
    case 'EMFILE':
    case 'ENFILE':
    case 'EIO':
    case 'ENOMEM':
      return storeError(
        'STORE_IO',
        `opening ${path} failed (${errorCodeOf(error)}); close some files, or raise the limit, and try again`,
        path,
        error,
      );
    case 'EACCES':
    case 'EPERM':
    case 'ENOTDIR':
    case 'EEXIST':
    case 'ELOOP':
    case 'ENAMETOOLONG':
    case 'ENOENT':
      return storeError(
        'STORE_DIR_UNWRITABLE',
        `${path} can't be made or written; check its owner and mode, or choose another state directory`,
        path,
        error,
      );
    default:
      return error;
  }
}
