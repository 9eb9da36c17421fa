import { spawnSync } from 'node:child_process';
import { isOffline, loopbackUpScript } from './loopback.js';

const probeTimeoutMs = 10_000;

export interface OfflineCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** True: no network but loopback. False: only the environment keeps the program from it. */
  readonly isolated: boolean;
  /** True: everything the program starts ends with it, detached processes included. */
  readonly contained: boolean;
  /** Why it is less than both, or null. */
  readonly reason: string | null;
}

interface Way {
  readonly flags: readonly string[];
  readonly contained: boolean;
}

const ways: readonly Way[] = [
  { flags: ['-n', '-p', '-f', '--mount-proc', '--kill-child'], contained: true },
  { flags: ['-r', '-n', '-p', '-f', '--mount-proc', '--kill-child'], contained: true },
  { flags: ['-n'], contained: false },
  { flags: ['-r', '-n'], contained: false },
];

/**
 * How to run a program in a network of its own with nothing but loopback, as root or not.
 * Where the system forbids it the program runs as it is, and the result says so and why.
 */
export function offlineCommand(command: string, args: readonly string[]): OfflineCommand {
  if (isOffline()) return { command, args, isolated: true, contained: false, reason: null };
  if (process.platform !== 'linux') {
    return plain(
      command,
      args,
      `network namespaces are a Linux feature; this is ${process.platform}`,
    );
  }
  let reason = '';
  for (const way of ways) {
    const probe = spawnSync('unshare', wrapped(way, 'true', []), {
      encoding: 'utf8',
      timeout: probeTimeoutMs,
    });
    if (probe.status === 0) {
      return {
        command: 'unshare',
        args: wrapped(way, command, args),
        isolated: true,
        contained: way.contained,
        reason: way.contained ? null : 'no process namespace may be made here',
      };
    }
    reason ||=
      probe.error?.message ?? (probe.stderr.trim() || `unshare ended with ${probe.status}`);
  }
  return plain(command, args, `no network namespace may be made here: ${reason}`);
}

/** The shell stays as the first process of its namespace: it reaps what others leave behind. */
function wrapped(way: Way, command: string, args: readonly string[]): string[] {
  const script = `${loopbackUpScript}\n"$@"\nexit $?`;
  return [...way.flags, 'sh', '-c', script, 'offline', command, ...args];
}

function plain(command: string, args: readonly string[], reason: string): OfflineCommand {
  return { command, args, isolated: false, contained: false, reason };
}
