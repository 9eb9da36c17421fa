import { isAbsolute } from 'node:path';
import { maxColumnsCells, maxRowsCells, minColumnsCells, minRowsCells } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { LaunchAgentRequest } from '@ostler/service';

export interface LaunchOptions {
  /** `claude`, `codex`, `generic`, or one of `OstlerOptions.engines`. */
  readonly engine: string;
  /** Shown to people; unique among running agents. */
  readonly name?: string;
  /** Executable by path or name; the engine's usual one where left out. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** An existing directory, absolute. */
  readonly cwd: string;
  /**
   * Added to this process's environment, or all there is with `cleanEnv`; `OSTLER_AGENT_ID`,
   * `OSTLER_ENGINE` and, where it is known, `OSTLER_SESSION_ID` are set in any case.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cleanEnv?: boolean;
  /** Cells; 100 × 32 where left out. */
  readonly cols?: number;
  readonly rows?: number;
  /** A new file that takes an asciicast v2 recording. It holds everything on the screen: keep it private. */
  readonly castPath?: string;
}

const defaultCols = 100;
const defaultRows = 32;

/** Checks what only an embedder gives. Throws CodedError INVALID_REQUEST. */
export function launchRequest(options: LaunchOptions): LaunchAgentRequest {
  const { args, castPath, cleanEnv = false, command, cwd, engine, env = {}, name } = options;
  const { cols = defaultCols, rows = defaultRows } = options;
  if (!isAbsolute(cwd)) throw invalid(`cwd must be an absolute path, not "${cwd}"`);
  if (
    !within(cols, minColumnsCells, maxColumnsCells) ||
    !within(rows, minRowsCells, maxRowsCells)
  ) {
    throw invalid(
      `cols must be ${minColumnsCells} to ${maxColumnsCells} and rows ${minRowsCells} to ${maxRowsCells}`,
    );
  }
  return {
    engine,
    cwd,
    env: { ...(cleanEnv ? {} : ownEnvironment()), ...env },
    cols,
    rows,
    ...(name === undefined ? {} : { name }),
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args }),
    ...(castPath === undefined ? {} : { castPath }),
  };
}

function ownEnvironment(): Record<string, string> {
  const set = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(set);
}

const within = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

const invalid = (message: string): CodedError<'INVALID_REQUEST'> =>
  new CodedError('INVALID_REQUEST', message);
