import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Disposables, randomIds, systemClock } from '@ostler/runtime';
import { openStore } from '@ostler/store';
import { DaemonChild, usageOf, withSimulated } from './daemon-child.js';
import { type Spread, spreadOf } from './statistics.js';

/** The daemon with so many sessions, most of them idle. */
export interface LoadPoint {
  readonly sessions: number;
  readonly daemonRssMiB: number;
  readonly hostRssMiB: number;
  /** Share of one core, in percent, while nothing happens. */
  readonly idleDaemonPercent: number;
  readonly idleHostPercent: number;
}

export interface DaemonReport {
  readonly load: readonly LoadPoint[];
  readonly busySessions: number;
  /** From the call of `turn.send` to the event that says `submitted`, over all busy sessions at once. */
  readonly submittedMs: Spread | null;
  readonly submittedP99Ms: number | null;
  /** Of one core, while the busy sessions work. */
  readonly busyDaemonPercent: number;
  /** From the start of the process to serving, several times over. */
  readonly start: {
    readonly receipts: number;
    readonly hosts: number;
    /** On an empty directory. */
    readonly emptyMs: Spread | null;
    readonly fullMs: Spread | null;
    /** Until every agent of the hosts is taken over too. */
    readonly adoptedMs: Spread | null;
  };
}

const steps = [25, 50, 100, 200] as const;
const busySessions = 20;
const sendsEach = 15;
const idleMs = 5_000;
const receiptsCount = 100_000;
const hostsCount = 50;
const perDevice = 500;
const startsCount = 7;

/** Null where there is no /proc to read. */
export async function measureDaemon(
  dir: string,
  say: (what: string) => void,
): Promise<DaemonReport | null> {
  if (process.platform !== 'linux') return null;
  mkdirSync(dir, { recursive: true });
  await using owned = new Disposables();
  const stateDir = join(dir, 'state');
  const emptyMs: number[] = [];
  for (let count = 0; count < startsCount; count += 1) {
    await using empty = await DaemonChild.start(join(dir, `empty-${count}`));
    emptyMs.push(empty.readyMs);
  }
  const daemon = owned.own(await DaemonChild.start(stateDir, withSimulated));
  const busy = await launchBusy(daemon, owned);
  const load: LoadPoint[] = [];
  let sessions = busy.length;
  for (const wanted of steps) {
    say(`the daemon with ${wanted} sessions`);
    for (; sessions < wanted; sessions += 1) await launchIdle(daemon, `idle-${sessions}`);
    load.push(await loadPoint(daemon, sessions));
  }
  say(`${busy.length} of them busy`);
  const before = daemon.usage();
  const beganMs = systemClock.monotonicMs();
  const submitted = await sendToAll(daemon, busy);
  const tookMs = systemClock.monotonicMs() - beganMs;
  const busyDaemonPercent = ((daemon.usage().cpuMs - before.cpuMs) / tookMs) * 100;
  const { agents } = (await daemon.call('agents.list')) as {
    agents: readonly { agentId: string; machineId: string }[];
  };
  for (const { agentId, machineId } of agents) {
    await daemon.call('agent.close', { agentId, machineId });
  }
  await daemon[Symbol.asyncDispose]();
  const full = await measureStart(join(dir, 'full'), say);
  const sorted = [...submitted].sort((one, other) => one - other);
  return {
    load,
    busySessions: busy.length,
    submittedMs: spreadOf(submitted),
    submittedP99Ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? null,
    busyDaemonPercent,
    start: {
      receipts: receiptsCount,
      hosts: hostsCount,
      emptyMs: spreadOf(emptyMs),
      fullMs: spreadOf(full.map(({ readyMs }) => readyMs)),
      adoptedMs: spreadOf(full.map(({ adoptedMs }) => adoptedMs)),
    },
  };
}

interface BusyAgent {
  readonly agentId: string;
  readonly machineId: string;
}

async function launchBusy(daemon: DaemonChild, owned: Disposables): Promise<BusyAgent[]> {
  const { simulatedLaunch } = await import('@ostler/lab');
  const agents: BusyAgent[] = [];
  for (let index = 0; index < busySessions; index += 1) {
    const simulated = owned.own(
      await simulatedLaunch({ script: { turns: [{ forMs: 20 }], busyRule: 'native_queue' } }),
    );
    const { args, command, cwd, engine, env } = simulated;
    const launched = await daemon.call('agent.launch', {
      ...{ name: `busy-${index}`, engine, command, args, cwd, env },
      cleanEnv: true,
    });
    agents.push({
      agentId: String(launched['agentId']),
      machineId: String(launched['machineId']),
    });
  }
  return agents;
}

/** A program that has painted its screen and waits. */
async function launchIdle(daemon: DaemonChild, name: string, isolate = false): Promise<void> {
  await daemon.call('agent.launch', {
    name,
    engine: 'generic',
    command: '/bin/sh',
    args: ['-c', "printf 'ready> '; exec sleep 86400"],
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color' },
    cleanEnv: true,
    isolate,
  });
}

async function loadPoint(daemon: DaemonChild, sessions: number): Promise<LoadPoint> {
  const status = (await daemon.call('server.status')) as { hosts: readonly { pid: number }[] };
  const hosts = (): { cpuMs: number; rssMiB: number } =>
    status.hosts
      .map(({ pid }) => usageOf(pid))
      .reduce((sum, one) => ({ cpuMs: sum.cpuMs + one.cpuMs, rssMiB: sum.rssMiB + one.rssMiB }), {
        cpuMs: 0,
        rssMiB: 0,
      });
  await pause(1_000);
  const [daemonBefore, hostsBefore] = [daemon.usage(), hosts()];
  await pause(idleMs);
  const [daemonAfter, hostsAfter] = [daemon.usage(), hosts()];
  return {
    sessions,
    daemonRssMiB: daemonAfter.rssMiB,
    hostRssMiB: hostsAfter.rssMiB,
    idleDaemonPercent: ((daemonAfter.cpuMs - daemonBefore.cpuMs) / idleMs) * 100,
    idleHostPercent: ((hostsAfter.cpuMs - hostsBefore.cpuMs) / idleMs) * 100,
  };
}

/** Every agent gets its next text once the last one was accepted. */
async function sendToAll(daemon: DaemonChild, agents: readonly BusyAgent[]): Promise<number[]> {
  const sentAtMs = new Map<string, number>();
  const times: number[] = [];
  using _ = daemon.onFrame((frame) => {
    if (frame['kind'] !== 'receipt.updated') return;
    const { receipt } = frame['payload'] as {
      receipt: { idempotencyKey: string; input?: { phase: string } };
    };
    const sent = sentAtMs.get(receipt.idempotencyKey);
    const { phase } = receipt.input ?? {};
    if (sent === undefined || (phase !== 'submitted' && phase !== 'accepted')) return;
    times.push(systemClock.monotonicMs() - sent);
    sentAtMs.delete(receipt.idempotencyKey);
  });
  await Promise.all(
    agents.map(async (agent, index) => {
      for (let round = 0; round < sendsEach; round += 1) {
        const idempotencyKey = `load-${index}-${round}`;
        sentAtMs.set(idempotencyKey, systemClock.monotonicMs());
        await daemon.call('turn.send', {
          ...agent,
          idempotencyKey,
          text: `round ${round} for agent ${index}`,
        });
        await daemon.call('receipt.wait', { idempotencyKey, until: 'accepted', timeoutMs: 30_000 });
      }
    }),
  );
  return times;
}

/** Daemons that find a full ledger and many hosts of the one before, each killed for the next. */
async function measureStart(
  stateDir: string,
  say: (what: string) => void,
): Promise<{ readonly readyMs: number; readonly adoptedMs: number }[]> {
  say(`a start with ${receiptsCount} receipts and ${hostsCount} hosts`);
  const store = openStore({
    stateDir,
    clock: systemClock,
    ids: randomIds,
    limits: { receiptsPerDeviceCount: perDevice },
  });
  for (let index = 0; index < receiptsCount; index += 1) {
    const reserved = store.reserve({
      deviceId: `device-${Math.floor(index / perDevice)}`,
      idempotencyKey: `key-${index}`,
      intentDigest: 'digest',
      operation: 'turn.send',
      agentId: 'gone',
    });
    if (reserved.kind === 'reserved') {
      store.applyChange(reserved.receipt.deliveryId, { state: 'completed' });
    }
  }
  store.close();
  const first = await DaemonChild.start(stateDir);
  for (let index = 0; index < hostsCount; index += 1) {
    await launchIdle(first, `host-${index}`, true);
  }
  await first.kill();
  const starts: { readyMs: number; adoptedMs: number }[] = [];
  for (let count = 1; count <= startsCount; count += 1) {
    const next = await DaemonChild.start(stateDir);
    const { readyMs } = next;
    const beganMs = systemClock.monotonicMs();
    const { agents } = (await next.call('agents.list')) as {
      agents: readonly { agentId: string; machineId: string }[];
    };
    starts.push({ readyMs, adoptedMs: readyMs + systemClock.monotonicMs() - beganMs });
    if (agents.length !== hostsCount) {
      throw new Error(`${agents.length} of ${hostsCount} agents were taken over`);
    }
    if (count < startsCount) {
      await next.kill();
      continue;
    }
    for (const { agentId, machineId } of agents) {
      await next.call('agent.close', { agentId, machineId });
    }
    await next[Symbol.asyncDispose]();
  }
  return starts;
}

/** The clock's own timers do not keep a process alive; the daemon's pipe does. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.setTimer(ms, resolve));
