#!/usr/bin/env node
import { isCoded } from '@ostler/runtime';
import { Command, CommanderError, Option } from 'commander';
import { builtInEngines } from '../built-in-engines.js';
import { outputTo } from './output.js';
import { parseMoment, type ReplayOptions, replay } from './replay.js';
import { version } from './version.js';

/** 0: done. 1: it failed, or a claim did not hold. 2: the command was not understood. */
const exitCodes = { failed: 1, usage: 2 } as const;

const engineOption = (description: string): Option =>
  new Option('--engine <engine>', description).choices(builtInEngines.map(({ id }) => id));

function program(): Command {
  const ostler = new Command('ostler')
    .description('Puts text into running coding agents and says only what it saw.')
    .version(version)
    .showHelpAfterError('(run the command with --help for its options)')
    .enablePositionalOptions()
    .exitOverride();

  ostler
    .command('demo')
    .description('show the main job: messages into a busy agent, and their receipts moving')
    .addOption(
      new Option('--engine <engine>', 'the agent to run; real ones come by `npm run engines`')
        .choices(['simulated', 'codex', 'claude'])
        .default('simulated'),
    )
    .option('--json', 'one JSON document at the end, nothing else on stdout')
    .addHelpText(
      'after',
      '\nExamples:\n  ostler demo\n  ostler demo --engine codex\n  ostler demo --json | jq .receipts',
    )
    .action(async (options: { engine: 'simulated' | 'codex' | 'claude'; json?: boolean }) => {
      const { runDemo } = await import('../demo/index.js');
      process.exitCode = await runDemo({ engine: options.engine, json: options.json ?? false });
    });

  ostler
    .command('replay')
    .description("print what an engine's reader sees in a recording (asciicast v2) at a moment")
    .argument('<cast>', 'the recording')
    .addOption(engineOption('whose reader to use').makeOptionMandatory())
    .option('--version <version>', "the engine's version; read conservatively where left out")
    .addOption(
      new Option('--at <moment>', 'seconds from the start, or "end"')
        .argParser(parseMoment)
        .default('end'),
    )
    .option('--json', 'one JSON document: {readable, composer, hold, busy, queue, signals}')
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  ostler replay session.cast --engine claude --version 2.1.328 --at 3.2\n' +
        '  ostler replay session.cast --engine codex --json | jq .hold',
    )
    .action((cast: string, options: ReplayOptions) =>
      replay(cast, options, outputTo(process.stdout)),
    );

  return ostler;
}

try {
  await program().parseAsync();
} catch (failure) {
  if (failure instanceof CommanderError) {
    process.exitCode = failure.exitCode === 0 ? 0 : exitCodes.usage;
  } else {
    const message = failure instanceof Error ? failure.message : String(failure);
    const code = isCoded(failure) ? failure.code : 'INTERNAL';
    process.exitCode = exitCodes.failed;
    if (process.argv.includes('--json'))
      outputTo(process.stdout).json({ error: { code, message } });
    else process.stderr.write(`ostler: ${message} (${code})\n`);
  }
}
