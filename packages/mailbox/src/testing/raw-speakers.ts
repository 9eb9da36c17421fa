import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Program } from './build-program.js';
import { start, type Waiting } from './other-processes.js';

const pythonSource = fileURLToPath(new URL('raw_speaker.py', import.meta.url));

/** Somebody who speaks plain SQL of the shared tables, as the other program does. */
export interface RawSpeaker {
  readonly name: string;
  /** Runs SQL as it stands on a file, which is made where it isn't there. */
  make(program: Program, path: string, sql: string): void;
  start(program: Program, args: readonly string[], env?: Readonly<Record<string, string>>): Waiting;
}

export const nodeSpeaker: RawSpeaker = {
  name: 'node',
  make(program, path, sql) {
    const kind = existsSync(path) ? 'old' : 'new';
    run(process.execPath, [program.rawPath, 'make', path, kind], sql);
  },
  start: (program, args, env) => start(program.rawPath, args, env),
};

const python = pythonHere();

/** Python's own SQLite, or null where there is no Python 3. */
export const pythonSpeaker: RawSpeaker | null =
  python === null
    ? null
    : {
        name: 'python',
        make: (_program, path, sql) => run(python, [pythonSource, 'make', path], sql),
        start: (_program, args, env) => start(pythonSource, args, env, python),
      };

function run(command: string, args: readonly string[], input: string): void {
  const made = spawnSync(command, args, { input, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`${command} ended with ${made.status}: ${made.stderr}`);
}

function pythonHere(): string | null {
  const found = spawnSync('python3', ['-c', 'import sqlite3, sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  return found.status === 0 ? found.stdout.trim() : null;
}
