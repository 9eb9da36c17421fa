import type { AgentSummary } from '@ostler/protocol';
import type { Command } from 'commander';
import { type DaemonFlags, examples, withDaemonOptions } from '../option-values.js';
import { shown } from '../output.js';
import { printTable, type Row } from '../table.js';
import { allAgents } from '../whole-lists.js';
import { withDaemon } from '../with-daemon.js';

const head: Row = ['name', 'engine', 'version', 'state', 'hold', 'queued', 'agent id'];

export function addAgents(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('agents')
      .description('list the running agents')
      .option('--names', 'only their names, one a line'),
  )
    .addHelpText('after', examples('ostler agents', "ostler agents --json | jq '.agents[].name'"))
    .action((flags: DaemonFlags & { names?: boolean }) =>
      withDaemon(flags, async ({ client, json, output }) => {
        const listed = await allAgents(client);
        if (flags.names) for (const { name } of listed.agents) output.text(shown(name));
        else if (json) output.json(listed);
        else if (listed.agents.length > 0) printTable(output, head, listed.agents.map(rowOf));
        else output.text('no agent runs; start one with: ostler run NAME --engine ENGINE');
      }),
    );
}

function rowOf({ agentId, engine, hold, name, queued, state, version }: AgentSummary): Row {
  return [name, engine, version ?? '–', state, hold ?? '–', String(queued), agentId];
}
