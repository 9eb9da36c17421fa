import { type Command, Option } from 'commander';
import { type AttachEnded, attachAgent, mustBeTerminal } from '../attach/attach-agent.js';
import { type DetachKey, detachKey } from '../attach/detach-key.js';
import { exitCodes } from '../exit-codes.js';
import { findAgent } from '../find-agent.js';
import { examples, stateDirOption } from '../option-values.js';
import { shown } from '../output.js';
import { withDaemon } from '../with-daemon.js';

interface AttachFlags {
  readonly detachKey: DetachKey;
  readonly readOnly?: boolean;
  readonly stateDir?: string;
}

export function addAttach(ostler: Command): void {
  ostler
    .command('attach')
    .description("show an agent's terminal here and type into it, until you detach")
    .argument('<name>', "the agent's name or id")
    .option('--read-only', 'only look: no keys, and no size, reach the agent')
    .addOption(detachKeyOption())
    .addOption(stateDirOption())
    .addHelpText('after', examples('ostler attach work', 'ostler attach work --read-only'))
    .action(async (name: string, flags: AttachFlags) => {
      mustBeTerminal();
      await withDaemon(flags, async ({ client }) => {
        const agent = await findAgent(client, name);
        const { detachKey: key, readOnly = false } = flags;
        sayEnd(agent.name, await attachAgent(client, agent, { detachKey: key, readOnly }));
      });
    });
}

export function detachKeyOption(): Option {
  return new Option('--detach-key <key>', 'ctrl- and a letter or one of ] \\ ^ _ @')
    .argParser(detachKey)
    .default(detachKey('ctrl-]'), 'ctrl-]');
}

/** On the person's own screen, behind what was there before. */
export function sayEnd(name: string, ended: AttachEnded): void {
  switch (ended.kind) {
    case 'detached':
      process.stdout.write(`detached from ${shown(name)}, which goes on\n`);
      break;
    case 'gone':
      process.stdout.write(`${shown(name)} has ended (${endOf(ended)})\n`);
      break;
    case 'daemon_gone':
      process.exitCode = exitCodes.noDaemon;
      process.stderr.write(
        'ostler: the daemon ended; start it again with: ostler up (DAEMON_GONE)\n',
      );
      break;
  }
}

function endOf({ exitCode, signal }: Extract<AttachEnded, { kind: 'gone' }>): string {
  return signal === null || signal === 0
    ? `exit code ${exitCode ?? 'unknown'}`
    : `signal ${signal}`;
}
