import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentTerminal } from '../agent-terminal.js';
import { connectHost, type HostedSpawnOptions, type PtyHost } from '../host/connect-host.js';
import type { HostLimits } from '../host/host-limits.js';
import { isClaimantAlive, readClaims } from '../host/host-place.js';
import { listHosts } from '../host/list-hosts.js';
import { signalProcess } from '../process-identity.js';
import type { ScreenSnapshot } from '../snapshot.js';

/** A private directory, the hosts in it, and their end. */
export class HostRig implements Disposable {
  readonly dir: string = mkdtempSync(join(tmpdir(), 'ostler-host-'));

  async connect(
    options: { hostId?: string; epoch?: number; limits?: Partial<HostLimits> } = {},
  ): Promise<PtyHost> {
    const { hostId = 'main' } = options;
    return connectHost({ dir: this.dir, startIfMissing: true, ...options, hostId });
  }

  /** A connection that speaks as it likes. */
  async raw(hostId = 'main'): Promise<{ socket: Socket; token: string }> {
    const [claim] = readClaims(this.dir, hostId);
    if (!claim) throw new Error('no host');
    const socket = createConnection(claim.socketPath);
    await once(socket, 'connect');
    return { socket, token: claim.token };
  }

  async alive(): Promise<number> {
    return (await listHosts(this.dir)).filter(({ alive }) => alive).length;
  }

  [Symbol.dispose](): void {
    const claims = readClaims(this.dir).filter(isClaimantAlive);
    for (const { pid } of claims) signalProcess(pid, 'SIGTERM');
    // A host that is ending still writes into its directory and takes its own files away.
    for (let turn = 0; turn < maxTurns && claims.some(isClaimantAlive); turn += 1) {
      Atomics.wait(nobodyWakes, 0, 0, turnMs);
    }
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  }
}

/** The end of a process that is not our child has no event. */
const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));
const turnMs = 5;
const maxTurns = 1_000;

export function shell(script: string, sessionId = 'a'): HostedSpawnOptions {
  return {
    sessionId,
    metadata: `{"name":"${sessionId}"}`,
    file: 'sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    cols: 80,
    rows: 24,
  };
}

export const text = (snapshot: ScreenSnapshot): string =>
  snapshot.rows
    .map((row) => row.text)
    .join('\n')
    .trimEnd();

/** Woken by changes only. */
export function until(
  terminal: AgentTerminal,
  wanted: (snapshot: ScreenSnapshot) => boolean,
): Promise<ScreenSnapshot> {
  return new Promise((resolve, reject) => {
    const check = (snapshot: ScreenSnapshot): void => {
      if (!wanted(snapshot)) return;
      subscription[Symbol.dispose]();
      resolve(snapshot);
    };
    const subscription = terminal.onChange(check);
    terminal.look().then(check, reject);
  });
}

export async function launch(host: PtyHost, script: string, id?: string): Promise<AgentTerminal> {
  return new AgentTerminal({ endpoint: await host.spawn(shell(script, id)) });
}

/** `stty` first: a line-mode terminal would echo and edit. */
export const echoing = `stty raw -echo; printf 'ready>'; exec cat -v`;
