import type { Command } from 'commander';
import { findAgent, targetOf } from '../find-agent.js';
import { type MutationFlags, mutate, withMutationOptions } from '../mutation-options.js';
import { examples } from '../option-values.js';
import { withDaemon } from '../with-daemon.js';

export function addStop(ostler: Command): void {
  withMutationOptions(
    ostler
      .command('stop')
      .description("interrupt an agent's running turn; the agent stays")
      .argument('<name>', "the agent's name or id"),
  )
    .addHelpText('after', examples('ostler stop work', 'ostler stop work --wait accepted --json'))
    .action((name: string, flags: MutationFlags) =>
      withDaemon(flags, async (run) => {
        const agent = await findAgent(run.client, name);
        await mutate(run, flags, (idempotencyKey) =>
          run.client.call('turn.stop', { ...targetOf(agent), idempotencyKey }),
        );
      }),
    );
}
