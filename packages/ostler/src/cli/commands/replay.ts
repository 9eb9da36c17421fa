import { type Command, Option } from 'commander';
import { builtInEngines } from '../../built-in-engines.js';
import { examples, jsonOption } from '../option-values.js';
import { outputTo } from '../output.js';
import { parseMoment, type ReplayOptions, replay } from '../replay.js';

export function addReplay(ostler: Command): void {
  const [first, second] = builtInEngines.map(({ id }) => id);
  ostler
    .command('replay')
    .description("print what an engine's reader sees in a recording (asciicast v2) at a moment")
    .argument('<cast>', 'the recording')
    .addOption(
      new Option('--engine <engine>', 'whose reader to use')
        .choices(builtInEngines.map(({ id }) => id))
        .makeOptionMandatory(),
    )
    .option('--version <version>', "the engine's version; read conservatively where left out")
    .addOption(
      new Option('--at <moment>', 'seconds from the start, or "end"')
        .argParser(parseMoment)
        .default('end'),
    )
    .addOption(jsonOption('one JSON document: {readable, composer, hold, busy, queue, signals}'))
    .addHelpText(
      'after',
      examples(
        `ostler replay session.cast --engine ${first} --at 3.2`,
        `ostler replay session.cast --engine ${second} --json | jq .hold`,
      ),
    )
    .action((cast: string, options: ReplayOptions) =>
      replay(cast, options, outputTo(process.stdout)),
    );
}
