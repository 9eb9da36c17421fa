import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export type SpawnProblem =
  | 'not_found'
  | 'not_executable'
  | 'cwd_missing'
  | 'bad_argument'
  | 'bad_size'
  | 'fork_failed';

export type ExecutableLookup =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing'; readonly reason: 'not_found' | 'not_executable' };

function check(path: string): 'executable' | 'not_found' | 'not_executable' {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 'not_found';
  if (!stat.isFile()) return 'not_executable';
  try {
    accessSync(path, constants.X_OK);
    return 'executable';
  } catch (failure) {
    if (failure instanceof Error) return 'not_executable';
    throw failure;
  }
}

/** Finds `file` as `execvp` would in the child: a path from `cwd`, a bare name on the child's PATH. */
export function findExecutable(
  file: string,
  cwd: string,
  path: string | undefined,
): ExecutableLookup {
  const candidates = file.includes('/')
    ? [isAbsolute(file) ? file : resolve(cwd, file)]
    : (path ?? '/usr/bin:/bin')
        .split(delimiter)
        .map((directory) => join(resolve(cwd, directory), file));
  let reason: 'not_found' | 'not_executable' = 'not_found';
  for (const candidate of candidates) {
    const found = check(candidate);
    if (found === 'executable') return { kind: 'found', path: candidate };
    if (found === 'not_executable') reason = found;
  }
  return { kind: 'missing', reason };
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
