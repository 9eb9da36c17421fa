import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

/** What the processes of one session hold open under the engine's home. */
export interface HeldFiles {
  /** Threads by their lock files. */
  readonly threadIds: readonly string[];
  /** Rollout files, absolute. */
  readonly rollouts: readonly string[];
}

const MAX_PROCESSES = 64;
const lockName = /\/thread-writer-locks\/([0-9a-f-]{36})\.lock$/u;
const rolloutName = /\/sessions\/(?:.*\/)?rollout-[^/]*-([0-9a-f-]{36})\.jsonl$/u;

export function threadOfRollout(file: string): string | null {
  return rolloutName.exec(file)?.[1] ?? null;
}

/**
 * Looks through the open files of `pid` and its descendants: the native program
 * under the npm wrapper, and a server it started. The thread's lock is held from
 * the moment the session is configured on, the rollout from its first turn
 * (codex 0.156.1, 0.169.0). Empty where the system has no /proc.
 */
export async function readHeldFiles(pid: number, codexHome: string): Promise<HeldFiles> {
  const threadIds = new Set<string>();
  const rollouts = new Set<string>();
  for (const member of await processTree(pid)) {
    for (const file of await openFiles(member)) {
      if (!file.startsWith(`${codexHome}${path.sep}`)) continue;
      const lock = lockName.exec(file)?.[1];
      if (lock) threadIds.add(lock);
      if (rolloutName.test(file)) rollouts.add(file);
    }
  }
  return { threadIds: [...threadIds], rollouts: [...rollouts] };
}

async function processTree(root: number): Promise<number[]> {
  const found = [root];
  for (let index = 0; index < found.length && found.length < MAX_PROCESSES; index += 1) {
    found.push(...(await childrenOf(found[index] ?? 0)));
  }
  return found.slice(0, MAX_PROCESSES);
}

async function childrenOf(pid: number): Promise<number[]> {
  const children: number[] = [];
  for (const thread of await list(`/proc/${pid}/task`)) {
    const text = await textOf(`/proc/${pid}/task/${thread}/children`);
    for (const child of text.split(' ')) if (child !== '') children.push(Number(child));
  }
  return children;
}

async function openFiles(pid: number): Promise<string[]> {
  const files: string[] = [];
  for (const fd of await list(`/proc/${pid}/fd`)) {
    const target = await link(`/proc/${pid}/fd/${fd}`);
    if (target.startsWith('/')) files.push(target);
  }
  return files;
}

/** A process may end while it is looked at, or not be ours to see: then it holds nothing. */
async function orNothing<Value>(read: Promise<Value>, nothing: Value): Promise<Value> {
  try {
    return await read;
  } catch {
    return nothing;
  }
}

function list(directory: string): Promise<string[]> {
  return orNothing(readdir(directory), []);
}

function textOf(file: string): Promise<string> {
  return orNothing(readFile(file, 'utf8'), '');
}

function link(file: string): Promise<string> {
  return orNothing(readlink(file), '');
}
