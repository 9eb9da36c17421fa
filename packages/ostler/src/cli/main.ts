#!/usr/bin/env node
import { isCoded } from '@ostler/runtime';
import { CommanderError } from 'commander';
import { exitCodeOf, exitCodes } from './exit-codes.js';
import { outputTo, shown } from './output.js';
import { program } from './program.js';

const args = process.argv.slice(2);
/** Who read stdout has enough, and what was found out stands; a daemon goes on without a reader. */
process.stdout.on('error', (failure: NodeJS.ErrnoException) => {
  if (args[0] === 'up') return;
  if (failure.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.done);
  process.stderr.write(`ostler: stdout can't be written (${failure.code ?? failure.message})\n`);
  process.exit(process.exitCode === exitCodes.inDoubt ? exitCodes.inDoubt : exitCodes.failed);
});
try {
  const ostler = await program(args[0]);
  await ostler.parseAsync();
} catch (failure) {
  if (failure instanceof CommanderError) {
    process.exitCode = failure.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  } else {
    const message = failure instanceof Error ? failure.message : String(failure);
    const code = isCoded(failure) ? failure.code : 'INTERNAL';
    process.exitCode = exitCodeOf(failure);
    const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    if (own.includes('--json')) outputTo(process.stdout).json({ error: { code, message } });
    else process.stderr.write(`ostler: ${shown(message)} (${code})\n`);
  }
}
