import type { LaunchPlan, LaunchRequest } from '../engine.js';
import { compareVersions } from '../find-executable.js';
import { locateEngine } from '../locate-engine.js';

/** The flag was seen in the help of 0.156.1 and 0.169.0. */
const NO_DAEMON = '--no-daemon';
const NO_DAEMON_SINCE = '0.156.1';
/** First words that start the interactive program; any other single word may be a subcommand. */
const interactiveWords = new Set(['resume', 'fork']);

/**
 * Adds `--no-daemon` where the version knows it: without it a detached server
 * shared by all sessions owns the thread, survives the session's death, finishes
 * its turn and keeps the thread locked (codex 0.169.0); with it the session's own
 * process writes the record, which is how the record is told from another's.
 * Left alone where the caller chose a server (`--remote`) or a subcommand.
 */
export async function planCodexLaunch(request: LaunchRequest): Promise<LaunchPlan> {
  const { file, version } = await locateEngine(request, {
    name: 'Codex',
    usualCommand: 'codex',
    versionOutput: /codex/u,
    install: 'install it with "npm install -g @openai/codex"',
  });
  return { file, args: withOwnServer(request.args, version), env: request.env, version };
}

function withOwnServer(args: readonly string[], version: string | null): readonly string[] {
  if (version === null || compareVersions(version, NO_DAEMON_SINCE) < 0) return args;
  if (args.includes(NO_DAEMON) || args.some((arg) => arg.startsWith('--remote'))) return args;
  const first = args[0];
  if (first !== undefined && /^[a-z]\S*$/u.test(first) && !interactiveWords.has(first)) return args;
  return [NO_DAEMON, ...args];
}
