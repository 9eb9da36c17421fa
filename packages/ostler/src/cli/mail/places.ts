import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Environment } from '@ostler/engines/doors';

/**
 * The mailbox: `--db`, OSTLER_MAIL_DB, the HTALK_DB of the other program, else that program's
 * place in the XDG data directory, so that both find one file.
 */
export function databasePath(option: string | undefined, env: Environment): string {
  const home = set(env['HOME']) ?? homedir();
  const chosen = set(option) ?? set(env['OSTLER_MAIL_DB']) ?? set(env['HTALK_DB']);
  if (chosen !== undefined) return resolve(untilde(chosen, home));
  const data = set(env['XDG_DATA_HOME']) ?? join(home, '.local', 'share');
  return resolve(untilde(data, home), 'harness-talk', 'mail.sqlite3');
}

function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function untilde(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
}
