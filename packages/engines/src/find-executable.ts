import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Clock, systemClock } from '@ostler/runtime';

/**
 * Resolves a command as a shell would: a name with a slash against `cwd`, any
 * other on `searchPath` (the child's PATH, not ours). Null where nothing
 * executable is found.
 */
export async function findExecutable(
  command: string,
  where: { readonly searchPath: string; readonly cwd: string },
): Promise<string | null> {
  if (command === '') return null;
  if (command.includes('/')) {
    const file = path.resolve(where.cwd, command);
    return (await isExecutable(file)) ? file : null;
  }
  for (const directory of where.searchPath.split(path.delimiter)) {
    const file = path.resolve(where.cwd, directory, command);
    if (await isExecutable(file)) return file;
  }
  return null;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

const VERSION_TIMEOUT_MS = 10_000;
const VERSION_OUTPUT_BYTES = 4_096;

/**
 * Runs `file --version` and returns the first `x.y.z` (with a suffix, if any)
 * it prints, or null: no such text, a failure, or no answer within `timeoutMs`.
 * The process and its group are ended at the deadline.
 */
export async function probeVersion(
  file: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly clock?: Clock;
    readonly timeoutMs?: number;
  },
): Promise<string | null> {
  const output = await askVersion(file, options);
  return output === null ? null : firstVersion(output);
}

/** The first `x.y.z` (with a suffix, if any) in a text, or null. */
export function firstVersion(text: string): string | null {
  return /\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?/.exec(text)?.[0] ?? null;
}

/** What `file --version` prints on stdout, bounded in time and size; null where it fails or gives no answer. */
export function askVersion(
  file: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly clock?: Clock;
    readonly timeoutMs?: number;
  },
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(file, ['--version'], {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let output = '';
    const finish = (result: string | null): void => {
      timer[Symbol.dispose]();
      child.stdout.destroy();
      resolve(result);
    };
    const timer = (options.clock ?? systemClock).setTimer(
      options.timeoutMs ?? VERSION_TIMEOUT_MS,
      () => {
        endGroup(child.pid);
        finish(null);
      },
    );
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text: string) => {
      output = (output + text).slice(0, VERSION_OUTPUT_BYTES);
    });
    child.on('error', () => finish(null));
    child.on('close', (code) => finish(code === 0 ? output : null));
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ESRCH') throw failure;
  }
}

/** Compares dotted numbers, suffixes ignored: negative when `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const left = numbers(a);
  const right = numbers(b);
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbers(version: string): number[] {
  return (version.split('-', 1)[0] ?? '').split('.').map((part) => Number.parseInt(part, 10) || 0);
}
