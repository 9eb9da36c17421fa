import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Clock, CodedError } from '@ostler/runtime';
import type { HostErrorCode } from './host-errors.js';
import type { HostLimits } from './host-limits.js';

export interface StartHostOptions {
  readonly dir: string;
  readonly hostId: string;
  readonly clock: Clock;
  readonly limits: Partial<HostLimits>;
}

const startMs = 20_000;
const maxReadyBytes = 4 * 1024;
/** A host moves bytes: a small heap is enough, and fewer threads do. */
const nodeFlags: readonly string[] = [
  '--max-old-space-size=256',
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
];

/** The host is started from what was built, also where this file runs from its source. */
function hostMain(): string {
  return fileURLToPath(new URL('../../dist/host/host-main.js', import.meta.url));
}

/**
 * Starts a host that outlives this process: a session of its own, no terminal, nothing
 * inherited. Resolves when it serves, or another one does. Throws CodedError
 * HOST_START_FAILED.
 */
export async function startHost(options: StartHostOptions): Promise<void> {
  const { dir, hostId, limits, clock } = options;
  const args = [...nodeFlags, hostMain(), dir, hostId, JSON.stringify(limits)];
  const child = spawn(process.execPath, args, {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin', UV_THREADPOOL_SIZE: '1' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const ready = child.stdio[readyDescriptor] as Readable;
  const line = await new Promise<string>((resolve) => {
    let text = '';
    const timer = clock.setTimer(startMs, () => resolve(`not ready within ${startMs} ms`));
    const end = (): void => {
      timer[Symbol.dispose]();
      resolve(text.trim());
    };
    child.once('error', (failure) => {
      text = failure.message;
      end();
    });
    ready.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(0, maxReadyBytes);
      if (text.includes('\n')) end();
    });
    ready.on('error', end);
    ready.on('close', end);
  });
  ready.destroy();
  child.unref();
  if (line === 'ready' || line === 'taken') return;
  throw new CodedError<HostErrorCode>(
    'HOST_START_FAILED',
    `the host ${hostId} did not start: ${line === '' ? 'it ended at once' : line}`,
    { details: { dir, hostId } },
  );
}

const readyDescriptor = 3;
