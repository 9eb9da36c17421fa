import { type Clock, CodedError } from '@ostler/runtime';
import type { PtyErrorCode } from '../in-process-pty.js';
import { type ProcessWatch, signalProcess } from '../process-identity.js';

/** The longest pause between two looks at a child that is being ended. */
const maxPauseMs = 50;

/**
 * Ends a child whose host is out of reach, by signal. Throws CodedError PTY_STILL_ALIVE where it
 * outlives even SIGKILL by `graceMs`.
 */
export async function endOrphan(
  pid: number,
  process: ProcessWatch,
  clock: Clock,
  graceMs: number,
): Promise<void> {
  for (const signal of ['SIGHUP', 'SIGKILL'] as const) {
    if (!process.isAlive()) return;
    if (!signalProcess(-pid, signal)) signalProcess(pid, signal);
    if (await goneWithin(process, clock, graceMs)) return;
  }
  throw new CodedError<PtyErrorCode>(
    'PTY_STILL_ALIVE',
    `process ${pid} survives SIGKILL; look for a blocked system call`,
    { details: { pid } },
  );
}

/** A process that isn't our child tells nobody of its end: it is looked at, ever more seldom. */
function goneWithin(process: ProcessWatch, clock: Clock, waitMs: number): Promise<boolean> {
  const untilMs = clock.monotonicMs() + waitMs;
  return new Promise((resolve) => {
    const look = (delayMs: number): void => {
      if (!process.isAlive()) resolve(true);
      else if (clock.monotonicMs() >= untilMs) resolve(false);
      else clock.setTimer(delayMs, () => look(Math.min(2 * delayMs, maxPauseMs)));
    };
    look(1);
  });
}
