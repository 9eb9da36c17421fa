import type { Ids } from '@ostler/runtime';
import type { LaunchPlan, LaunchRequest } from '../engine.js';
import { locateEngine } from '../locate-engine.js';
import { installHooks } from './hooks.js';

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
  const { file, version } = await locateEngine(request, {
    name: 'Claude Code',
    usualCommand: 'claude',
    versionOutput: /Claude Code/u,
    install: 'install it with "npm install -g @anthropic-ai/claude-code"',
  });
  const { env } = request;
  const interactive = !request.args.some((argument) => otherForms.test(argument));
  const added: string[] = [];
  if (interactive && !request.args.some((argument) => choosesSession.test(argument))) {
    added.push('--session-id', ids.uuid());
  }
  if (interactive && !request.args.some((argument) => /^--settings(?:=|$)/.test(argument))) {
    added.push('--settings', await installHooks(request.sessionDir));
  }
  // In front: a prompt among the caller's arguments may be the last one.
  const args = [...added, ...request.args];
  const sessionId = sessionIdOf(args);
  return { file, args, env, version, ...(sessionId === null ? {} : { sessionId }) };
}

/** The id the session was given on its command line. */
export function sessionIdOf(args: readonly string[]): string | null {
  for (const [index, argument] of args.entries()) {
    if (argument === '--session-id') return args[index + 1] ?? null;
    if (argument.startsWith('--session-id=')) return argument.slice('--session-id='.length);
  }
  return null;
}
