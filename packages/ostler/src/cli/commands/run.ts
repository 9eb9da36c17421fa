import { resolve } from 'node:path';
import { CodedError } from '@ostler/runtime';
import type { Command } from 'commander';
import { builtInEngines } from '../../built-in-engines.js';
import { attachAgent, mustBeTerminal } from '../attach/attach-agent.js';
import type { DetachKey } from '../attach/detach-key.js';
import { findAgent } from '../find-agent.js';
import {
  type DaemonFlags,
  examples,
  keyAndValue,
  wholeNumber,
  withDaemonOptions,
} from '../option-values.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';
import { detachKeyOption, sayEnd } from './attach.js';

interface RunFlags extends DaemonFlags {
  readonly engine: string;
  readonly detach?: boolean;
  readonly detachKey: DetachKey;
  readonly cwd?: string;
  readonly cleanEnv?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly isolate?: boolean;
  readonly cast?: string;
  readonly cols?: number;
  readonly rows?: number;
}

const launchWithinMs = 60_000;

export function addRun(ostler: Command): void {
  const [engine = ''] = builtInEngines.map(({ id }) => id);
  withDaemonOptions(
    ostler
      .command('run')
      .description('start an agent in a terminal that the daemon owns, and attach to it')
      .argument('<name>', 'what you will call it')
      .argument(
        '[command...]',
        "behind --: another executable than the engine's usual one, and arguments",
      )
      .requiredOption(
        '--engine <engine>',
        `what it is: ${builtInEngines.map(({ id }) => id).join(', ')}, or one of an engine module`,
      )
      .option('--detach', 'leave it in the background')
      .addOption(detachKeyOption())
      .option('--cwd <dir>', 'where it works; here where left out')
      .option('--clean-env', "nothing of the daemon's environment: only what --env says")
      .option('--env <name=value>', 'a variable for it; repeatable', keyAndValue)
      .option('--isolate', 'a host process of its own')
      .option('--cast <file>', 'record its terminal into a new file (asciicast v2)')
      .option('--cols <n>', 'columns of its terminal', wholeNumber(2, 1_000))
      .option('--rows <n>', 'rows of its terminal', wholeNumber(2, 1_000)),
  )
    .addHelpText(
      'after',
      examples(
        `ostler run work --engine ${engine}`,
        `ostler run work --engine ${engine} --detach --cwd ~/src/app --json`,
        `ostler run work --engine ${engine} --detach -- ${engine} --model NAME`,
      ),
    )
    .action((name: string, command: readonly string[], flags: RunFlags) => {
      if (!flags.detach) {
        if (flags.json) throw new CodedError('USAGE', '--json goes with --detach');
        mustBeTerminal();
      }
      return withDaemon(flags, (run) => launch(run, name, command, flags));
    });
}

async function launch(
  { client, json, output }: DaemonRun,
  name: string,
  [command, ...args]: readonly string[],
  flags: RunFlags,
): Promise<void> {
  const launched = await client.call(
    'agent.launch',
    {
      name,
      engine: flags.engine,
      cwd: resolve(flags.cwd ?? '.'),
      ...(command !== undefined && { command }),
      ...(args.length > 0 && { args }),
      ...(flags.env !== undefined && { env: flags.env }),
      ...(flags.cleanEnv && { cleanEnv: true }),
      ...(flags.cols !== undefined && { cols: flags.cols }),
      ...(flags.rows !== undefined && { rows: flags.rows }),
      ...(flags.cast !== undefined && { castPath: resolve(flags.cast) }),
      ...(flags.isolate && { isolate: true }),
    },
    launchWithinMs,
  );
  if (!flags.detach) {
    const agent = await findAgent(client, launched.agentId);
    const { detachKey } = flags;
    sayEnd(name, await attachAgent(client, agent, { detachKey, readOnly: false }));
    return;
  }
  if (json) {
    output.json(launched);
    return;
  }
  const { certificate, version } = launched;
  output.lines([
    ['agent', `${launched.name} (${launched.agentId})`],
    ['engine', `${certificate.engine} ${version ?? 'of unknown version'}`],
    [
      'verified',
      certificate.verified ? 'yes, by recordings of this version' : 'no: read conservatively',
    ],
    ['while busy', certificate.busyMode],
    ['next', `ostler attach ${launched.name}; ostler send ${launched.name} TEXT`],
  ]);
}
