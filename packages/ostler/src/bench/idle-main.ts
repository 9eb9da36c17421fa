// One reading of idle sessions, in a process where nothing else happens: `node --expose-gc idle-main.js ORDER`.
import { mkdirSync, readFileSync } from 'node:fs';
import { MessageChannel } from 'node:worker_threads';
import { type Clock, systemClock } from '@ostler/runtime';
import type { AgentSession } from '@ostler/service';
import headless from '@xterm/headless';
import { launchRequest } from '../launch-options.js';
import type { IdleOrder, IdleReading } from './idle-cost.js';
import { CountingClock, heldBytes, readWakeups } from './meters.js';
import { openService } from './rig.js';

const cols = 100;
const rows = 32;
const restMs = 1_500;
/** What looks for lost file events after the last sign of life has ended by then. */
const quietMs = 17_000;
const firstLooksWithinMs = 10_000;

const order = JSON.parse(process.argv[2] ?? '{}') as IdleOrder;
const { port1: keepsAlive } = new MessageChannel();
keepsAlive.on('message', () => undefined);

const counting = new CountingClock(systemClock);
mkdirSync(order.dir, { recursive: true });
const service = openService(`${order.dir}/state`, { engines: [] }, counting);
const painted = readFileSync(order.painted, 'utf8');
const terminals: headless.Terminal[] = [];
const agents: AgentSession[] = [];
let looks = 0;

if (order.what === 'bare') {
  for (let number = 0; number < order.sessions; number += 1) terminals.push(await bare());
} else if (order.what === 'sessions') {
  for (let number = 0; number < order.sessions; number += 1) agents.push(await idleSession());
  await Promise.all(agents.map((agent) => paintedBy(agent)));
}
await pause(systemClock, order.seconds > 0 ? quietMs : restMs);

const before = { wakeups: readWakeups(), timers: counting.timersFired, looks };
const startedMs = systemClock.monotonicMs();
if (order.seconds > 0) await pause(systemClock, order.seconds * 1_000);
const after = readWakeups();
const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
const reading: IdleReading = {
  heapBytes: heldBytes().heap,
  wakeups: after && before.wakeups ? after.main - before.wakeups.main : null,
  allThreadsWakeups: after && before.wakeups ? after.all - before.wakeups.all : null,
  timersFired: counting.timersFired - before.timers,
  looks: looks - before.looks,
  seconds: Math.max(1, seconds),
};
process.stdout.write(JSON.stringify(reading));
await service.close();
for (const terminal of terminals) terminal.dispose();
keepsAlive.close();

async function bare(): Promise<headless.Terminal> {
  const terminal = new headless.Terminal({
    cols,
    rows,
    scrollback: 0,
    allowProposedApi: true,
    logLevel: 'off',
  });
  await new Promise<void>((resolve) => terminal.write(painted, resolve));
  return terminal;
}

async function idleSession(): Promise<AgentSession> {
  const session = await service.launch(
    launchRequest({
      engine: order.engine,
      command: order.program,
      cwd: order.dir,
      env: { PATH: '/usr/bin:/bin', HOME: order.dir, TERM: 'xterm-256color' },
      cleanEnv: true,
      cols,
      rows,
    }),
  );
  const { terminal } = session;
  const look = terminal.look.bind(terminal);
  terminal.look = (options) => {
    looks += 1;
    return look(options);
  };
  return session;
}

/** Resolves once the program's screen is there. */
async function paintedBy({ terminal }: AgentSession): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await terminal.look()).bytesParsed >= Buffer.byteLength(painted);
  const deadlineMs = systemClock.monotonicMs() + firstLooksWithinMs;
  while (!(await isThere()) && systemClock.monotonicMs() < deadlineMs) {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        subscription[Symbol.dispose]();
        timer[Symbol.dispose]();
        resolve();
      };
      const subscription = terminal.onChange(end);
      const timer = systemClock.setTimer(restMs, end);
    });
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(ms, resolve));
}
