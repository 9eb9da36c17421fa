import { Command } from 'commander';
import { exitCodesHelp } from './exit-codes.js';
import { version } from './version.js';

type Add = (ostler: Command) => void;

/** Each command's own code is loaded when it is asked for, or when all are described. */
const commands: Readonly<Record<string, () => Promise<Add>>> = {
  up: async () => (await import('./commands/up.js')).addUp,
  demo: async () => (await import('./commands/demo.js')).addDemo,
  replay: async () => (await import('./commands/replay.js')).addReplay,
  mail: async () => {
    const { mailCommand } = await import('./mail/index.js');
    return (ostler) => void ostler.addCommand(mailCommand());
  },
  mcp: async () => {
    const { mcpCommand } = await import('./mcp/index.js');
    return (ostler) => void ostler.addCommand(mcpCommand());
  },
};

/** Needs the whole tree: it is about all commands. */
const aboutAll = 'completions';

/** The tree of commands; only `wanted` where it names one of them. */
export async function program(wanted: string | undefined): Promise<Command> {
  const ostler = new Command('ostler')
    .description('Puts text into running coding agents and says only what it saw.')
    .version(version)
    .showHelpAfterError('(run the command with --help for its options)')
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText('after', exitCodesHelp);
  const one =
    wanted !== undefined && wanted !== aboutAll && Object.hasOwn(commands, wanted)
      ? commands[wanted]
      : undefined;
  const loaded = one ? [one] : Object.values(commands);
  for (const add of await Promise.all(loaded.map((load) => load()))) add(ostler);
  return ostler;
}
