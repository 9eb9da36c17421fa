import { CodedError, type Ids } from '@ostler/runtime';
import type { LaunchPlan, LaunchRequest } from '../engine.js';
import { findExecutable, probeVersion } from '../find-executable.js';
import { installHooks } from './hooks.js';

const usualCommand = 'claude';
/** With these the session's id is someone else's choice. */
const choosesSession =
  /^(?:--session-id|--resume|-r|--continue|-c|--from-pr|--teleport|--remote)(?:=|$)/;
/** Forms that aren't an interactive session: they are started as they are. */
const otherForms = /^(?:-p|--print|-v|--version|-h|--help)$/;

/**
 * Adds `--session-id`, so that the record's path is known, and `--settings` with
 * this session's hooks; what the caller chose stays.
 */
export async function planLaunch(request: LaunchRequest, ids: Ids): Promise<LaunchPlan> {
  const command = request.command ?? usualCommand;
  const { cwd, env } = request;
  const file = await findExecutable(command, { searchPath: env.PATH ?? '', cwd });
  if (file === null) {
    throw new CodedError(
      'ENGINE_NOT_FOUND',
      `No executable “${command}” on the agent's PATH. Install it with “npm install -g @anthropic-ai/claude-code”, or pass its path as command.`,
      { details: { command } },
    );
  }
  const version = await probeVersion(file, { cwd, env });
  const interactive = !request.args.some((argument) => otherForms.test(argument));
  const added: string[] = [];
  if (interactive && !request.args.some((argument) => choosesSession.test(argument))) {
    added.push('--session-id', ids.uuid());
  }
  if (interactive && !request.args.some((argument) => /^--settings(?:=|$)/.test(argument))) {
    added.push('--settings', await installHooks(request.sessionDir));
  }
  // In front: a prompt among the caller's arguments may be the last one.
  return { file, args: [...added, ...request.args], env, version };
}

/** The id the session was given on its command line. */
export function sessionIdOf(args: readonly string[]): string | null {
  for (const [index, argument] of args.entries()) {
    if (argument === '--session-id') return args[index + 1] ?? null;
    if (argument.startsWith('--session-id=')) return argument.slice('--session-id='.length);
  }
  return null;
}
