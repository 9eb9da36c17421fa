import { statSync } from 'node:fs';
import { storeError } from './store-errors.js';

/*
 * One writer per state directory. Between processes SQLite's own lock does it: the database
 * is opened in exclusive locking mode, so a kernel lock (fcntl) lies on the very file for the
 * life of the connection and goes with the process, however it dies. It can't be deleted apart
 * from the data, and a fork or a child has no part in it.
 *
 * Such locks belong to a process, and the process loses them when *any* descriptor of the file
 * is closed, one of a second copy of SQLite included. So within the process a set that all
 * copies of this module share keeps a second opener away from the file, and nobody here opens
 * the database file by other means while it is held.
 */
const registryKey = Symbol.for('@ostler/store:directories-held');

function registry(): Set<string> {
  const shared = globalThis as { [registryKey]?: Set<string> };
  shared[registryKey] ??= new Set();
  return shared[registryKey];
}

/** Claims the directory within this process. Throws STORE_LOCKED; disposal is idempotent. */
export function holdDirectory(dir: string): Disposable {
  const { dev, ino } = statSync(dir);
  const identity = `${dev}:${ino}`;
  if (registry().has(identity)) {
    throw storeError(
      'STORE_LOCKED',
      `this process has the store in ${dir} open already; close it first, or share it`,
      dir,
    );
  }
  registry().add(identity);
  let held = true;
  return {
    [Symbol.dispose]() {
      if (held) registry().delete(identity);
      held = false;
    },
  };
}
