import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  type Engine,
  type EngineObserver,
  type EngineReader,
  type LaunchPlan,
  type LaunchRequest,
  type ObserveRequest,
} from '@ostler/engines';
import { CodedError } from '@ostler/runtime';
import { recordPathOf, SimulatedObserver } from './observe.js';
import { parseScript } from './parse-script.js';
import { SimulatedReader } from './reader.js';
import type { SimulatedScript } from './script.js';

/** The compiled program, whether this file is read from source or not. */
export function simulatedProgram(): string {
  return fileURLToPath(new URL('../../dist/simulated-agent/main.js', import.meta.url));
}

/** The version a script's agent has: its number and, behind a plus, its busy rule. */
export function simulatedVersion(script: SimulatedScript): string {
  if (script.version.includes('+') || !/^\d/.test(script.version)) return script.version;
  return `${script.version}+${script.busyRule.replaceAll('_', '-')}`;
}

/**
 * The simulated agent as an engine. A script whose version is not a number (say
 * `unknown`) is an agent of an unknown version: its busy rule isn't told.
 */
export const simulatedEngine: Engine = {
  id: 'simulated',

  async planLaunch(request: LaunchRequest): Promise<LaunchPlan> {
    const program = simulatedProgram();
    const given = request.args[0]?.endsWith('.js') ? request.args : [program, ...request.args];
    const script = parseScript(await scriptIn(given));
    const sessionId = valueOf(given, '--session-id');
    return {
      file: request.command ?? process.execPath,
      args: [...given, '--record', recordPathOf(request.sessionDir)],
      env: request.env,
      version: simulatedVersion(script),
      ...(sessionId === null ? {} : { sessionId }),
    };
  },

  reader(version: string | null): EngineReader {
    return new SimulatedReader(version);
  },

  observe(request: ObserveRequest): EngineObserver {
    return new SimulatedObserver(request);
  },
};

async function scriptIn(args: readonly string[]): Promise<string> {
  const file = valueOf(args, '--script');
  if (file === null) return valueOf(args, '--script-json') ?? '{}';
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CodedError('ENGINE_NOT_FOUND', `The script ${file} can't be read.`, { cause });
  }
}

function valueOf(args: readonly string[], name: string): string | null {
  const at = args.indexOf(name);
  return at < 0 ? null : (args[at + 1] ?? null);
}
