import { type Command, Option } from 'commander';
import { claudeEngine } from '@ostler/engines/claude';
import { codexEngine } from '@ostler/engines/codex';
import type { DemoEngine } from '../../demo/show-demo.js';
import { examples, jsonOption } from '../option-values.js';

const demoEngines: readonly string[] = ['simulated', codexEngine.id, claudeEngine.id];

export function addDemo(ostler: Command): void {
  ostler
    .command('demo')
    .description('show the main job: messages into a busy agent, and their receipts moving')
    .addOption(
      new Option('--engine <engine>', 'the agent to run; real ones come by `npm run engines`')
        .choices(demoEngines)
        .default('simulated'),
    )
    .addOption(jsonOption('one JSON document at the end, nothing else on stdout'))
    .addHelpText(
      'after',
      examples(
        'ostler demo',
        `ostler demo --engine ${demoEngines[1]}`,
        'ostler demo --json | jq .receipts',
      ),
    )
    .action(async ({ engine, json = false }: { engine: DemoEngine; json?: boolean }) => {
      const { runDemo } = await import('../../demo/index.js');
      process.exitCode = await runDemo({ engine, json });
    });
}
