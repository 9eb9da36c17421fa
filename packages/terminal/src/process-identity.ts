import { readFileSync } from 'node:fs';
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
  if (identity.startTime !== null) {
    const stat = readStat(identity.pid);
    return (
      stat !== null &&
      stat.startTime === identity.startTime &&
      stat.state !== 'Z' &&
      stat.state !== 'X'
    );
  }
  return signalProcess(identity.pid, 0);
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
