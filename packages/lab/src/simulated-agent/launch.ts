import { existsSync } from 'node:fs';
import { CodedError } from '@ostler/runtime';
import { SimulatedControl } from './control.js';
import { simulatedProgram } from './engine.js';
import { parseScript } from './parse-script.js';
import type { ScriptInput } from './script.js';

/** What `launch` takes, and the other end of the agent's control channel. */
export interface SimulatedLaunch extends AsyncDisposable {
  readonly engine: 'simulated';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly control: SimulatedControl;
}

/**
 * Prepares a simulated agent that does what `script` says; nothing runs yet.
 * Throws CodedError SIMULATED_SCRIPT_INVALID, SIMULATED_AGENT_NOT_BUILT.
 */
export async function simulatedLaunch(options: {
  readonly script: ScriptInput;
  readonly cwd?: string;
}): Promise<SimulatedLaunch> {
  parseScript(options.script);
  const program = simulatedProgram();
  if (!existsSync(program)) {
    throw new CodedError(
      'SIMULATED_AGENT_NOT_BUILT',
      `The simulated agent's program ${program} is missing. Run \`npm run build\` first.`,
    );
  }
  const control = await SimulatedControl.listen();
  return {
    engine: 'simulated',
    command: process.execPath,
    args: [
      program,
      '--script-json',
      JSON.stringify(options.script),
      '--control',
      control.socketPath,
      '--truth',
      control.truthPath,
    ],
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    cwd: options.cwd ?? control.dir,
    control,
    [Symbol.asyncDispose]: () => control[Symbol.asyncDispose](),
  };
}
