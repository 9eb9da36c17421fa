import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** `--state-dir`, then OSTLER_STATE_DIR, then `ostler` in the XDG state directory. Absolute. */
export function stateDirOf(option: string | undefined, env: Environment = process.env): string {
  const chosen = set(option) ?? set(env['OSTLER_STATE_DIR']);
  if (chosen !== undefined) return resolve(chosen);
  const xdg = set(env['XDG_STATE_HOME']);
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'ostler');
  return join(set(env['HOME']) ?? homedir(), '.local', 'state', 'ostler');
}

function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
