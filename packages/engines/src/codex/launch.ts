import { CodedError } from '@ostler/runtime';
import type { LaunchPlan, LaunchRequest } from '../engine.js';
import { compareVersions, findExecutable, probeVersion } from '../find-executable.js';

const DEFAULT_COMMAND = 'codex';
/** The flag was seen in the help of 0.156.1 and 0.169.0. */
const NO_DAEMON = '--no-daemon';
const NO_DAEMON_SINCE = '0.156.1';
/** First arguments that start the interactive program; any other word is a subcommand or a prompt. */
const interactiveWords = new Set(['resume', 'fork']);

/**
 * Adds `--no-daemon` where the version knows it: without it a detached server
 * shared by all sessions owns the thread, survives the session's death, finishes
 * its turn and keeps the thread locked (codex 0.169.0); with it the session's own
 * process writes the record, which is how the record is told from another's.
 * Left alone where the caller chose a server (`--remote`) or a subcommand.
 */
export async function planCodexLaunch(request: LaunchRequest): Promise<LaunchPlan> {
  const command = request.command ?? DEFAULT_COMMAND;
  const file = await findExecutable(command, {
    searchPath: request.env.PATH ?? '',
    cwd: request.cwd,
  });
  if (file === null) {
    throw new CodedError(
      'ENGINE_NOT_FOUND',
      `No executable ${command} on the session's PATH. Install Codex or give its path as command.`,
      { details: { command } },
    );
  }
  const version = await probeVersion(file, { cwd: request.cwd, env: request.env });
  return { file, args: withOwnServer(request.args, version), env: request.env, version };
}

function withOwnServer(args: readonly string[], version: string | null): readonly string[] {
  if (version === null || compareVersions(version, NO_DAEMON_SINCE) < 0) return args;
  if (args.includes(NO_DAEMON) || args.some((arg) => arg.startsWith('--remote'))) return args;
  const first = args[0];
  if (first !== undefined && !first.startsWith('-') && !interactiveWords.has(first)) return args;
  return [...args, NO_DAEMON];
}
