import type { Command } from 'commander';
import { findAgent, targetOf } from '../find-agent.js';
import { type DaemonFlags, examples, withDaemonOptions } from '../option-values.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';

export function addStatus(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('status')
      .description('say how an agent is, or without a name how the daemon is')
      .argument('[name]', "the agent's name or id"),
  )
    .addHelpText('after', examples('ostler status', 'ostler status work --json | jq .hold'))
    .action((name: string | undefined, flags: DaemonFlags) =>
      withDaemon(flags, (run) => (name === undefined ? ofDaemon(run) : ofAgent(run, name))),
    );
}

async function ofAgent({ client, json, output }: DaemonRun, name: string): Promise<void> {
  const agent = await findAgent(client, name);
  const status = await client.call('status', targetOf(agent));
  if (json) {
    output.json({ agentId: agent.agentId, name: agent.name, ...status });
    return;
  }
  const { hold, openQuestion, queued, state } = status;
  output.lines([
    ['agent', `${agent.name} (${agent.engine} ${agent.version ?? 'of unknown version'})`],
    ['state', state],
    ['hold', hold ?? '–'],
    ['queued', String(queued)],
    ...(openQuestion?.questions ?? []).map(({ text }) => ['asks', text] as const),
    ...(openQuestion ? ([['', `ostler answer ${agent.name} ANSWER`]] as const) : []),
  ]);
}

async function ofDaemon({ client, json, output, stateDir }: DaemonRun): Promise<void> {
  const status = await client.call('server.status', {});
  if (json) {
    output.json({ ...status, stateDir });
    return;
  }
  output.lines([
    ['daemon', `${status.version}, process ${status.pid}`],
    ['state directory', stateDir],
    ['up for', `${Math.round(status.uptimeMs / 1_000)} s`],
    ['agents', String(status.agents)],
    ['hosts', status.hosts.map(({ agents, pid }) => `${pid} (${agents} agents)`).join(', ') || '–'],
    ['connections', String(status.connections)],
    ['devices', String(status.devices)],
    ['memory', `${Math.round(status.rssBytes / 1_048_576)} MiB`],
  ]);
}
