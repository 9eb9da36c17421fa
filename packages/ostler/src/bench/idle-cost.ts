import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CodedError } from '@ostler/runtime';
import { spreadOf } from './statistics.js';

/** What an `idle-main` process says of itself. */
export interface IdleReading {
  readonly heapBytes: number;
  readonly wakeups: number | null;
  readonly allThreadsWakeups: number | null;
  readonly timersFired: number;
  readonly looks: number;
  readonly seconds: number;
}

export interface IdleCost {
  readonly sessions: number;
  readonly bytesPerSession: number;
  readonly bytesPerBareTerminal: number;
  /** Per session and second, that of a process without sessions taken off; null where the system doesn't tell. */
  readonly wakeupsPerSecond: number | null;
  readonly allThreadsWakeupsPerSecond: number | null;
  readonly timersPerSecond: number;
  readonly looksPerSecond: number;
}

export type IdleWhat = 'nothing' | 'bare' | 'sessions';

const sessions = 8;
const rounds = 3;
const watchedSeconds = 10;

/**
 * Sessions of an engine before a program that paints one screen and is silent from then on,
 * against as many bare terminals with the same screen. Each reading is a process of its own.
 */
export async function measureIdle(
  dir: string,
  engine: string,
  versionLine: string,
  screen: string,
): Promise<IdleCost> {
  mkdirSync(dir, { recursive: true });
  const program = join(dir, 'silent-agent');
  const painted = join(dir, 'screen.bytes');
  writeFileSync(painted, screen);
  writeFileSync(
    program,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo '${versionLine}'; exit; fi\nstty raw -echo\ncat '${painted}'\nexec sleep 100000\n`,
  );
  chmodSync(program, 0o755);
  const heap: Record<IdleWhat, number[]> = { nothing: [], bare: [], sessions: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const what of ['nothing', 'bare', 'sessions'] as const) {
      const args = {
        dir: join(dir, `${what}-${round}`),
        what,
        engine,
        program,
        painted,
        seconds: 0,
      };
      heap[what].push((await inChild(args)).heapBytes);
    }
  }
  const watch = async (what: IdleWhat): Promise<IdleReading> =>
    await inChild({
      dir: join(dir, `watch-${what}`),
      what,
      engine,
      program,
      painted,
      seconds: watchedSeconds,
    });
  const none = await watch('nothing');
  const some = await watch('sessions');
  const each = (more: number, less: number): number => (more - less) / sessions / some.seconds;
  const known = (more: number | null, less: number | null): number | null =>
    more === null || less === null ? null : each(more, less);
  const base = median(heap.nothing);
  return {
    sessions,
    bytesPerSession: (median(heap.sessions) - base) / sessions,
    bytesPerBareTerminal: (median(heap.bare) - base) / sessions,
    wakeupsPerSecond: known(some.wakeups, none.wakeups),
    allThreadsWakeupsPerSecond: known(some.allThreadsWakeups, none.allThreadsWakeups),
    timersPerSecond: each(some.timersFired, none.timersFired),
    looksPerSecond: each(some.looks, none.looks),
  };
}

const median = (values: readonly number[]): number => spreadOf(values)?.median ?? 0;

/** What an `idle-main` process is told to do. */
export interface IdleOrder {
  readonly dir: string;
  readonly what: IdleWhat;
  readonly engine: string;
  readonly program: string;
  readonly painted: string;
  readonly seconds: number;
  readonly sessions: number;
}

async function inChild(order: Omit<IdleOrder, 'sessions'>): Promise<IdleReading> {
  const main = fileURLToPath(new URL('idle-main.js', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--expose-gc', main, JSON.stringify({ ...order, sessions })],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) {
    throw new CodedError('IDLE_MEASURE_FAILED', `the idle process ended with ${code}`);
  }
  return JSON.parse(said) as IdleReading;
}
