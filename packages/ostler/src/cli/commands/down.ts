import { CodedError, isCoded, systemClock } from '@ostler/runtime';
import { type Command, Option } from 'commander';
import { type DaemonFlags, examples, secondsAsMs, withDaemonOptions } from '../option-values.js';
import { keepAlive } from '../keep-alive.js';
import { allAgents } from '../whole-lists.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';

const lookEveryMs = 50;
/** A refused request has done nothing and may be made again; the local device regains one a second. */
const askAgainMs = 1_000;
const maxAsked = 600;

interface DownFlags extends DaemonFlags {
  readonly timeout: number;
  readonly withAgents?: boolean;
}

export function addDown(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('down')
      .description('stop the daemon when what is being typed is done; hosted agents live on')
      .option('--with-agents', 'end every agent first')
      .addOption(
        new Option('--timeout <seconds>', 'how long to wait for its end')
          .argParser(secondsAsMs(3_600))
          .default(30_000, '30'),
      ),
  )
    .addHelpText(
      'after',
      examples('ostler down', 'ostler down --with-agents', 'ostler down --timeout 5 --json'),
    )
    .action((flags: DownFlags) => withDaemon(flags, (run) => down(run, flags)));
}

async function down(run: DaemonRun, { timeout: timeoutMs, withAgents }: DownFlags): Promise<void> {
  const { client, json, output } = run;
  if (withAgents) await closeAll(run);
  const { agents, hosts, pid } = await client.call('server.status', {});
  process.kill(pid, 'SIGTERM');
  const endMs = systemClock.monotonicMs() + timeoutMs;
  while (runs(pid)) {
    if (systemClock.monotonicMs() > endMs) {
      throw new CodedError(
        'TIMEOUT',
        `process ${pid} still drains; ostler down again ends it at once`,
      );
    }
    await pause(lookEveryMs);
  }
  const living = hosts.reduce((sum, host) => sum + host.agents, 0);
  if (json) output.json({ stopped: pid, agents, livingOn: living });
  else output.text(`the daemon has ended; ${living} agents live on`);
}

async function closeAll({ client }: DaemonRun): Promise<void> {
  const { agents } = await allAgents(client);
  for (const { agentId, machineId } of agents) {
    for (let asked = 1; ; asked += 1) {
      try {
        await client.call('agent.close', { machineId, agentId });
        break;
      } catch (failure) {
        // One that ended by itself is what was wanted.
        if (isCoded(failure, 'AGENT_NOT_FOUND')) break;
        if (!isCoded(failure, 'RATE_LIMITED') || asked === maxAsked) throw failure;
        await pause(askAgainMs);
      }
    }
  }
}

/** No event tells of the end of a process that isn't a child. */
async function pause(forMs: number): Promise<void> {
  using _alive = keepAlive();
  await new Promise<void>((resolve) => void systemClock.setTimer(forMs, resolve));
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // Nobody has that number any more.
    return false;
  }
}
