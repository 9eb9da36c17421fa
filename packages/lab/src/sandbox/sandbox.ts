import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { type Clock, CodedError, systemClock } from '@ostler/runtime';
import { isOffline } from './loopback.js';
import { type OwnProcess, stopProcessesOfHome } from './own-processes.js';

const removalRetries = 5;

/** A fresh home and a fresh working folder for one engine, and an end for all it starts. */
export interface Sandbox extends AsyncDisposable {
  /** True when this process has no network but loopback; see `offlineCommand`. */
  readonly isolated: boolean;
  readonly dir: string;
  readonly homeDir: string;
  readonly workDir: string;
  /** Ends every process that was started with this home, however detached. */
  stop(): Promise<readonly OwnProcess[]>;
}

/**
 * Opens a sandbox below `roomDir`. Engines refuse, or treat differently, a home below the
 * system's temporary folder: so does this. Disposing ends its processes and removes its files.
 * Throws CodedError SANDBOX_IN_TMP.
 */
export function openSandbox(options: {
  roomDir: string;
  name?: string;
  keepFiles?: boolean;
  clock?: Clock;
}): Sandbox {
  mkdirSync(options.roomDir, { recursive: true });
  const room = realpathSync(options.roomDir);
  if (`${room}${sep}`.startsWith(`${realpathSync(tmpdir())}${sep}`)) {
    throw new CodedError(
      'SANDBOX_IN_TMP',
      `${room} is below the temporary folder; choose another, such as ${defaultRoomDir()}.`,
    );
  }
  const dir = mkdtempSync(join(room, `${options.name ?? 'sandbox'}-`));
  const homeDir = join(dir, 'home');
  const workDir = join(dir, 'work');
  mkdirSync(homeDir, { mode: 0o700 });
  mkdirSync(workDir);
  const clock = options.clock ?? systemClock;
  const stop = (): Promise<readonly OwnProcess[]> => stopProcessesOfHome(homeDir, { clock });
  return {
    isolated: isOffline(),
    dir,
    homeDir,
    workDir,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      if (options.keepFiles === true) return;
      rmSync(dir, { recursive: true, force: true, maxRetries: removalRetries });
    },
  };
}

/** `.ostler/lab` at the root of the repository around `from`, or in `from` itself. */
export function defaultRoomDir(from: string = process.cwd()): string {
  for (let dir = from; ; dir = dirname(dir)) {
    if (existsSync(join(dir, '.git'))) return join(dir, '.ostler', 'lab');
    if (dir === dirname(dir)) return join(from, '.ostler', 'lab');
  }
}
