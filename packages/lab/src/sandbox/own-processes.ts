import { readdirSync, readFileSync } from 'node:fs';
import type { Clock } from '@ostler/runtime';
import { pause } from './pause.js';

/** A process found by the home it was started with. */
export interface OwnProcess {
  readonly pid: number;
  /** Kernel start time in clock ticks; tells it from a later process with the same pid. */
  readonly startTime: string;
  readonly command: string;
}

const maxCommandChars = 200;
const stopPollMs = 20;

/**
 * Every process whose environment says `HOME=homeDir`, detached ones included. Empty where
 * the system has no /proc.
 */
export function processesOfHome(homeDir: string): readonly OwnProcess[] {
  const found: OwnProcess[] = [];
  for (const name of listProc()) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const environment = readProc(pid, 'environ');
    if (!environment?.split('\0').includes(`HOME=${homeDir}`)) continue;
    const startTime = startTimeOf(pid);
    if (startTime === null) continue;
    const command = (readProc(pid, 'cmdline') ?? '').replaceAll('\0', ' ').trim();
    found.push({ pid, startTime, command: command.slice(0, maxCommandChars) });
  }
  return found;
}

/**
 * Ends every process of a home: asks first, kills after `graceMs`. Looks again until none is
 * left or `rounds` are used up, since a supervisor may start another. Returns those that were
 * told to end.
 */
export async function stopProcessesOfHome(
  homeDir: string,
  options: { clock: Clock; graceMs?: number; rounds?: number },
): Promise<readonly OwnProcess[]> {
  const { clock, graceMs = 500, rounds = 5 } = options;
  const stopped = new Map<string, OwnProcess>();
  for (let round = 0; round < rounds; round += 1) {
    const present = processesOfHome(homeDir);
    if (present.length === 0) break;
    for (const entry of present) {
      stopped.set(`${entry.pid}/${entry.startTime}`, entry);
      signal(entry, round === 0 ? 'SIGTERM' : 'SIGKILL');
    }
    await waitUntilGone(present, clock, graceMs);
  }
  return [...stopped.values()];
}

async function waitUntilGone(
  entries: readonly OwnProcess[],
  clock: Clock,
  graceMs: number,
): Promise<void> {
  const deadlineMs = clock.monotonicMs() + graceMs;
  while (entries.some(isAlive) && clock.monotonicMs() < deadlineMs) {
    await pause(clock, stopPollMs);
  }
}

function isAlive(entry: OwnProcess): boolean {
  const stat = readProc(entry.pid, 'stat');
  return stat !== null && startTimeIn(stat) === entry.startTime && !isZombie(stat);
}

function signal(entry: OwnProcess, name: NodeJS.Signals): void {
  if (startTimeOf(entry.pid) !== entry.startTime) return;
  try {
    process.kill(entry.pid, name);
  } catch (failure) {
    if (!(failure instanceof Error && 'code' in failure && failure.code === 'ESRCH')) throw failure;
  }
}

function listProc(): readonly string[] {
  return process.platform === 'linux' ? readdirSync('/proc') : [];
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (failure) {
    // Gone meanwhile, or another user's: not ours either way.
    if (failure instanceof Error && 'code' in failure) return null;
    throw failure;
  }
}

function startTimeOf(pid: number): string | null {
  const stat = readProc(pid, 'stat');
  return stat === null || isZombie(stat) ? null : startTimeIn(stat);
}

/** Fields after the command's closing parenthesis: state is the first, start time the twentieth. */
function startTimeIn(stat: string): string | null {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function isZombie(stat: string): boolean {
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
