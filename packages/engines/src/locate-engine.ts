import { CodedError } from '@ostler/runtime';
import type { LaunchRequest } from './engine.js';
import { askVersion, findExecutable, firstVersion } from './find-executable.js';

export interface LocatedEngine {
  /** Absolute path. */
  readonly file: string;
  /** Null where the program gave no answer in time: it is then used conservatively. */
  readonly version: string | null;
}

/**
 * Finds an engine's executable and asks it for its version. Throws CodedError
 * ENGINE_NOT_FOUND, and ENGINE_VERSION_UNSUPPORTED when another program answers.
 */
export async function locateEngine(
  request: LaunchRequest,
  engine: {
    readonly name: string;
    readonly usualCommand: string;
    /** What `--version` of the right program prints. */
    readonly versionOutput: RegExp;
    /** How to come by it, for the error. */
    readonly install: string;
  },
): Promise<LocatedEngine> {
  const command = request.command ?? engine.usualCommand;
  const { cwd, env } = request;
  const file = await findExecutable(command, { searchPath: env.PATH ?? '', cwd });
  if (file === null) {
    throw new CodedError(
      'ENGINE_NOT_FOUND',
      `there is no executable "${command}" on the agent's PATH; ${engine.install}, or give its path as command`,
      { details: { command } },
    );
  }
  const answer = await askVersion(file, { cwd, env });
  if (answer !== null && !engine.versionOutput.test(answer)) {
    throw new CodedError(
      'ENGINE_VERSION_UNSUPPORTED',
      `${file} is not ${engine.name}: asked for its version it says "${firstLine(answer)}"; give the right command, or use the engine "generic"`,
      { details: { command, file } },
    );
  }
  return { file, version: answer === null ? null : firstVersion(answer) };
}

const maxQuotedCharacters = 60;

function firstLine(output: string): string {
  return (output.trim().split('\n', 1)[0] ?? '').slice(0, maxQuotedCharacters);
}
