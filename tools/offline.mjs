// node tools/offline.mjs [--require] -- COMMAND [ARGUMENTS]: runs a command with no network but loopback.
// Everything the command starts ends with it where the system allows; what it can't have is said on stderr.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(root, 'packages', 'lab', 'dist', 'sandbox', 'offline-command.js');

/**
 * `{ command, args, isolated, contained, reason }` for running a command offline; null before the
 * first build.
 */
export async function planOffline(command, args) {
  if (!existsSync(built)) return null;
  const { offlineCommand } = await import(pathToFileURL(built).href);
  return offlineCommand(command, args);
}

async function main(argv) {
  const split = argv.indexOf('--');
  const flags = argv.slice(0, Math.max(split, 0));
  const [command, ...args] = split < 0 ? [] : argv.slice(split + 1);
  if (command === undefined || flags.some((flag) => flag !== '--require')) {
    process.stderr.write('Usage: node tools/offline.mjs [--require] -- COMMAND [ARGUMENTS]\n');
    return 2;
  }
  const plan = await planOffline(command, args);
  if (plan === null) {
    process.stderr.write('ostler: the tree is not built yet; run: npm run build\n');
    return 1;
  }
  if (!plan.isolated && flags.includes('--require')) {
    process.stderr.write(`ostler: not run, because it would have a network: ${plan.reason}\n`);
    return 69;
  }
  if (plan.reason !== null) process.stderr.write(`ostler: not fully shut off: ${plan.reason}\n`);
  const child = spawn(plan.command, plan.args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`ostler: ${command} can't be started: ${error.message}\n`);
      resolve(127);
    });
    child.once('close', (code, signal) => resolve(signal === null ? code : 130));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2));
}
