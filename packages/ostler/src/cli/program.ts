import { Command } from 'commander';
import { exitCodesHelp } from './exit-codes.js';
import { version } from './version.js';

type Add = (ostler: Command) => void;

/** Each command's own code is loaded when it is asked for, or when all are described. */
const commands: Readonly<Record<string, () => Promise<Add>>> = {
  up: async () => (await import('./commands/up.js')).addUp,
  run: async () => (await import('./commands/run.js')).addRun,
  attach: async () => (await import('./commands/attach.js')).addAttach,
  send: async () => (await import('./commands/send.js')).addSend,
  answer: async () => (await import('./commands/answer.js')).addAnswer,
  stop: async () => (await import('./commands/stop.js')).addStop,
  receipts: async () => (await import('./commands/receipts.js')).addReceipts,
  agents: async () => (await import('./commands/agents.js')).addAgents,
  status: async () => (await import('./commands/status.js')).addStatus,
  close: async () => (await import('./commands/close.js')).addClose,
  device: async () => (await import('./commands/device.js')).addDevice,
  down: async () => (await import('./commands/down.js')).addDown,
  watch: async () => (await import('./commands/watch.js')).addWatch,
  events: async () => (await import('./commands/events.js')).addEvents,
  record: async () => (await import('./commands/record.js')).addRecord,
  doctor: async () => (await import('./commands/doctor.js')).addDoctor,
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
  completions: async () => (await import('./commands/completions.js')).addCompletions,
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
