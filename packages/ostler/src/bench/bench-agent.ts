import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Engine } from '@ostler/engines';
import { CodedError, Disposables } from '@ostler/runtime';
import type { LaunchOptions } from '../launch-options.js';

export type BenchEngine = 'claude' | 'codex' | 'simulated';

/** An agent to measure, before it is launched, and a folder for the run. */
export interface BenchAgent extends AsyncDisposable {
  readonly launch: LaunchOptions;
  /** Engines that the launch needs beside the built-in ones. */
  readonly engines: readonly Engine[];
  readonly dir: string;
}

/** The pin of an engine that is installed, the newest one; null where none is. */
export function newestPin(enginesDir: string, engine: string): string | null {
  const names = existsSync(enginesDir) ? readdirSync(enginesDir) : [];
  const versions = names
    .filter((name) => name.startsWith(`${engine}-`))
    .map((name) => name.slice(engine.length + 1))
    .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  return versions[0] ?? null;
}

/** Where the pins and the sandboxes are. */
export async function places(): Promise<{ enginesDir: string; roomDir: string; root: string }> {
  const { defaultRoomDir } = await import('@ostler/lab');
  const roomDir = defaultRoomDir();
  const root = dirname(dirname(roomDir));
  return { roomDir, root, enginesDir: join(root, '.engines') };
}

/** True where a real engine could reach nothing but this machine. */
export async function isShutOff(): Promise<boolean> {
  const { isOffline } = await import('@ostler/lab');
  return isOffline();
}

export async function openBenchAgent(engine: BenchEngine): Promise<BenchAgent> {
  const lab = await import('@ostler/lab');
  const { enginesDir, roomDir } = await places();
  const owned = new Disposables();
  try {
    const { dir, homeDir, workDir } = owned.own(lab.openSandbox({ roomDir, name: 'bench' }));
    const dispose = (): Promise<void> => owned[Symbol.asyncDispose]();
    if (engine === 'simulated') {
      const args = [lab.simulatedProgram(), '--script-json', JSON.stringify(simulatedScript)];
      const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8' };
      const launch = { engine, command: process.execPath, args, cwd: workDir, env, cleanEnv: true };
      return { launch, engines: [lab.simulatedEngine], dir, [Symbol.asyncDispose]: dispose };
    }
    const version = newestPin(enginesDir, engine);
    if (version === null) {
      throw new CodedError(
        'ENGINE_NOT_INSTALLED',
        `There is no ${engine} in ${enginesDir}. Run \`npm run engines\` first, or measure the simulated agent.`,
      );
    }
    // A project's root of its own: instructions of the folders above are none of this agent's.
    mkdirSync(join(workDir, '.git'));
    const model = owned.own(await startModel(dir));
    const request = { engine, version, enginesDir, homeDir, workDir, modelUrl: model.url };
    const { args, command, cwd, env } = lab.prepareRealEngine(request);
    const launch = { engine, command, args, cwd, env, cleanEnv: true };
    return { launch, engines: [], dir, [Symbol.asyncDispose]: dispose };
  } catch (failure) {
    await owned[Symbol.asyncDispose]();
    throw failure;
  }
}

/** Long enough to be seen at work, short enough to send often. */
const simulatedScript = {
  turns: [{ forMs: 50, answer: 'ok' }],
  timing: { echoMs: 4, startMs: 0 },
};

const modelScript = { otherwise: [{ do: 'say', text: 'ok', chunkDelayMs: 0 }] };

/** In a process of its own: what it does for the engine is none of the measured process's work. */
async function startModel(dir: string): Promise<AsyncDisposable & { readonly url: string }> {
  const script = join(dir, 'model.json');
  writeFileSync(script, JSON.stringify(modelScript));
  const program = fileURLToPath(
    new URL('model-server/model-server-main.js', import.meta.resolve('@ostler/lab')),
  );
  const child = spawn(process.execPath, [program, '--script', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const said: unknown = JSON.parse(line);
    if (typeof said === 'object' && said !== null && 'url' in said) {
      return { url: String(said.url), [Symbol.asyncDispose]: stop };
    }
  }
  throw new CodedError('MODEL_NOT_STARTED', 'the scripted model did not say where it listens');
}
