import { MessageChannel } from 'node:worker_threads';
import type { Clock } from '@ostler/runtime';

/** Waits on the clock, whose timers let a process end, and keeps this one alive meanwhile. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  const { port1 } = new MessageChannel();
  port1.on('message', () => undefined);
  await new Promise<void>((resolve) => {
    const timer = clock.setTimer(ms, resolve);
    const end = (): void => {
      timer[Symbol.dispose]();
      resolve();
    };
    signal?.addEventListener('abort', end, { once: true });
  });
  port1.close();
}
