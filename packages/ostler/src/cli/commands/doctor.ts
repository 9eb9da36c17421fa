import type { Command } from 'commander';
import type { Finding } from '../doctor/finding.js';
import { exitCodes } from '../exit-codes.js';
import { collected, type DaemonFlags, examples, withDaemonOptions } from '../option-values.js';
import { type Output, outputTo } from '../output.js';
import { stateDirOf } from '../state-dir.js';

interface DoctorFlags extends DaemonFlags {
  readonly engineModule?: readonly string[];
}

const marks = { ok: 'ok', note: 'note', fault: 'fault' } as const;
const colours = { ok: 'green', note: 'yellow', fault: 'red' } as const;

export function addDoctor(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('doctor')
      .description('look at everything a daemon needs, and say what to do; changes nothing')
      .option('--engine-module <file>', 'look for its engines too; repeatable', collected),
    'one JSON document: {ok, findings:[{what, level, saw, todo?}]}',
  )
    .addHelpText(
      'after',
      `${examples('ostler doctor', 'ostler doctor --json | jq \'.findings[] | select(.level != "ok")\'')}\n\nExit code 1 where there is a fault.`,
    )
    .action(async (flags: DoctorFlags) => {
      const { findings } = await import('../doctor/findings.js');
      const output = outputTo(process.stdout);
      const found = await findings(stateDirOf(flags.stateDir), flags.engineModule ?? []);
      const ok = found.every(({ level }) => level !== 'fault');
      if (flags.json) output.json({ ok, findings: found });
      else for (const finding of found) show(output, finding);
      process.exitCode = ok ? exitCodes.done : exitCodes.failed;
    });
}

function show(output: Output, { level, saw, todo, what }: Finding): void {
  output.text(`${output.style(colours[level], marks[level].padEnd(5))}  ${what}: ${saw}`);
  if (todo !== undefined) output.text(`       ${todo}`);
}
