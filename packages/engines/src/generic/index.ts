import { CodedError } from '@ostler/runtime';
import type { Engine, EngineObserver, LaunchPlan, LaunchRequest } from '../engine.js';
import { findExecutable, probeVersion } from '../find-executable.js';
import { GenericReader } from './reader.js';

/** Programs whose dialogs are known, by the name of their command. */
const knownPrograms = ['opencode', 'gemini', 'pi', 'qwen', 'copilot', 'cline'] as const;

const nothingSeen: EngineObserver = {
  signals: () => [],
  async [Symbol.asyncDispose]() {},
};

function genericEngine(id: string, defaultCommand: string | null): Engine {
  return {
    id,
    planLaunch: (request) => planLaunch(id, defaultCommand, request),
    reader: (version) => new GenericReader(id, version),
    observe: () => nothingSeen,
  };
}

async function planLaunch(
  id: string,
  defaultCommand: string | null,
  request: LaunchRequest,
): Promise<LaunchPlan> {
  const command = request.command ?? defaultCommand;
  const file =
    command === null
      ? null
      : await findExecutable(command, { searchPath: request.env.PATH ?? '', cwd: request.cwd });
  if (file === null) {
    throw new CodedError(
      'ENGINE_NOT_FOUND',
      command === null
        ? `The engine ${id} stands for any program: say which as command.`
        : `No executable ${command} on the session's PATH. Give its path as command.`,
      { details: { engine: id, command } },
    );
  }
  // An unknown program may do anything when asked for its version: only known ones are.
  const version =
    defaultCommand === null
      ? null
      : await probeVersion(file, { cwd: request.cwd, env: request.env });
  return { file, args: request.args, env: request.env, version };
}

/** `generic` for any program, and one engine for each whose dialogs are known. */
export const genericEngines: readonly Engine[] = [
  genericEngine('generic', null),
  ...knownPrograms.map((name) => genericEngine(name, name)),
];

export { GenericReader } from './reader.js';
