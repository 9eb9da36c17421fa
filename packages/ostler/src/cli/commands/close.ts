import type { Command } from 'commander';
import { findAgent, targetOf } from '../find-agent.js';
import { type DaemonFlags, examples, withDaemonOptions } from '../option-values.js';
import { withDaemon } from '../with-daemon.js';

export function addClose(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('close')
      .description('end an agent and its process')
      .argument('<name>', "the agent's name or id"),
  )
    .addHelpText('after', examples('ostler close work'))
    .action((name: string, flags: DaemonFlags) =>
      withDaemon(flags, async ({ client, json, output }) => {
        const agent = await findAgent(client, name);
        await client.call('agent.close', targetOf(agent));
        if (json) output.json({ closed: agent.agentId, name: agent.name });
        else output.text(`${agent.name} has ended`);
      }),
    );
}
