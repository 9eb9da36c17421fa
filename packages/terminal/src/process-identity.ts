import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { ProcessIdentity } from './pty-endpoint.js';

/** State and start time of `pid` as the kernel tells them, or null where there is no such process or no /proc. */
function readStat(pid: number): { readonly state: string; readonly startTime: string } | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (failure) {
    if (failure instanceof Error) return null;
    throw failure;
  }
  return parseStat(stat);
}

function parseStat(stat: string): { readonly state: string; readonly startTime: string } | null {
  // The second field is the command in brackets and may hold blanks and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === undefined || startTime === undefined ? null : { state, startTime };
}

export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, startTime: readStat(pid)?.startTime ?? null };
}

/** True while the process with this pid and this start time runs; a zombie doesn't count. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  if (identity.startTime === null) return signalProcess(identity.pid, 0);
  return runsSince(readStat(identity.pid), identity.startTime);
}

function runsSince(stat: ReturnType<typeof parseStat>, startTime: string): boolean {
  return stat !== null && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X';
}

const maxStatBytes = 4_096;

/**
 * Answers `isSameProcess` again and again for one system call each: the open file belongs
 * to the process it was opened for, and to no later one with its number.
 */
export class ProcessWatch implements Disposable {
  readonly #identity: ProcessIdentity;
  readonly #buffer: Buffer = Buffer.alloc(maxStatBytes);
  #file: number | null;

  constructor(identity: ProcessIdentity) {
    this.#identity = identity;
    this.#file = identity.startTime === null ? null : openStat(identity.pid);
  }

  isAlive(): boolean {
    const { startTime } = this.#identity;
    if (this.#file === null || startTime === null) return isSameProcess(this.#identity);
    let length: number;
    try {
      length = readSync(this.#file, this.#buffer, 0, maxStatBytes, 0);
    } catch (failure) {
      // ESRCH: it has gone.
      if (failure instanceof Error && 'code' in failure) return false;
      throw failure;
    }
    return runsSince(parseStat(this.#buffer.toString('latin1', 0, length)), startTime);
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

function openStat(pid: number): number | null {
  try {
    return openSync(`/proc/${pid}/stat`, 'r');
  } catch (failure) {
    if (failure instanceof Error && 'code' in failure) return null;
    throw failure;
  }
}

/** Sends `signal` and says whether there was somebody to send it to. A negative pid is a group. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (failure) {
    if (!(failure instanceof Error && 'code' in failure)) throw failure;
    // EPERM: it is there, and not ours to signal.
    return failure.code === 'EPERM';
  }
}
