import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CodedError, Disposables } from '@ostler/runtime';
import type { DemoAgent } from './demo-agent.js';
import { realDemo } from './scenario.js';

export type RealDemoEngine = 'codex' | 'claude';

/**
 * A real agent CLI of the repository's pins, before a scripted model on loopback.
 * Throws CodedError ENGINE_NOT_INSTALLED: run `npm run engines`.
 */
export async function realDemoAgent(
  engine: RealDemoEngine,
  size: { readonly cols: number; readonly rows: number },
): Promise<DemoAgent> {
  const lab = await import('@ostler/lab');
  const roomDir = lab.defaultRoomDir();
  const enginesDir = join(dirname(dirname(roomDir)), '.engines');
  const version = newestPin(enginesDir, engine);
  const owned = new Disposables();
  try {
    const model = owned.own(await lab.startModelServer({ script: realDemo.model }));
    const sandbox = owned.own(lab.openSandbox({ roomDir, name: 'demo' }));
    const { homeDir, workDir } = sandbox;
    // A project's root of its own: instructions of the folders above are none of this agent's.
    mkdirSync(join(workDir, '.git'));
    writeFileSync(join(workDir, realDemo.waitFor.name), realDemo.waitFor.script, { mode: 0o755 });
    const { args, command, cwd, env } = lab.prepareRealEngine({
      engine,
      version,
      enginesDir,
      homeDir,
      workDir,
      modelUrl: model.url,
      options: { extraArgs: realDemo.extraArgs[engine] },
    });
    const signalFile = (name: string): void => writeFileSync(join(workDir, name), '');
    let strayAnswers = 0;
    return {
      launch: { engine, command, args, cwd, env, cleanEnv: true, ...size },
      engines: [],
      async boundary() {
        signalFile('boundary');
      },
      async openDialog() {
        model.release('dialog');
      },
      personMs: realDemo.personMs,
      async closeDialog(press) {
        if (existsSync(join(workDir, realDemo.asked))) strayAnswers += 1;
        press(realDemo.allowKeys[engine]);
      },
      async finish() {
        signalFile('finish');
      },
      received: () => model.received(),
      strayAnswers: () => strayAnswers,
      [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
    };
  } catch (failure) {
    await owned[Symbol.asyncDispose]();
    throw failure;
  }
}

function newestPin(enginesDir: string, engine: RealDemoEngine): string {
  const names = existsSync(enginesDir) ? readdirSync(enginesDir) : [];
  const versions = names
    .filter((name) => name.startsWith(`${engine}-`))
    .map((name) => name.slice(engine.length + 1))
    .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  const [newest] = versions;
  if (newest !== undefined) return newest;
  throw new CodedError(
    'ENGINE_NOT_INSTALLED',
    `There is no ${engine} in ${enginesDir}. Run \`npm run engines\` first, or \`ostler demo\` for the simulated agent.`,
  );
}
