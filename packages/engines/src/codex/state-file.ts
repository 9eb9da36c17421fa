import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import type { Environment } from '../doors/mail-door.js';
import { Refusal } from '../doors/refusal.js';

const config = z.looseObject({ sqlite_home: z.string().optional() });
const stateName = /^state_(\d+)\.sqlite$/u;

/**
 * The client's own state database: the highest `state_N.sqlite` below the configured
 * `sqlite_home`, else CODEX_SQLITE_HOME, else CODEX_HOME (`.codex` in HOME); codex 0.156.1 and
 * 0.169.0 keep `state_5.sqlite`.
 */
export function stateDatabase(env: Environment): string {
  const home = codexHome(env);
  const dir = stateHome(home, env);
  const found = existsSync(dir) ? readdirSync(dir) : [];
  const newest = found
    .flatMap((name) => {
      const number = stateName.exec(name)?.[1];
      return number === undefined ? [] : [{ name, number: Number(number) }];
    })
    .sort((one, other) => other.number - one.number)[0];
  if (newest === undefined) {
    throw new Refusal('client_state_not_found', `there is no state database in ${dir}`);
  }
  return path.join(dir, newest.name);
}

function codexHome(env: Environment): string {
  const { CODEX_HOME: configured, HOME: home } = env;
  if (configured !== undefined && configured !== '') return path.resolve(untilde(configured, env));
  if (home === undefined || home === '') {
    throw new Refusal('client_home_unknown', 'neither CODEX_HOME nor HOME is set');
  }
  return path.join(home, '.codex');
}

function stateHome(home: string, env: Environment): string {
  const file = path.join(home, 'config.toml');
  const written = existsSync(file) ? config.parse(parse(readFileSync(file, 'utf8'))) : {};
  if (written.sqlite_home !== undefined && written.sqlite_home !== '') {
    return path.resolve(home, untilde(written.sqlite_home, env));
  }
  const variable = (env['CODEX_SQLITE_HOME'] ?? '').trim();
  return variable === '' ? home : path.resolve(untilde(variable, env));
}

function untilde(value: string, env: Environment): string {
  const { HOME: home } = env;
  if (home === undefined || !(value === '~' || value.startsWith('~/'))) return value;
  return path.join(home, value.slice(1));
}
