import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What `ostler` runs where it is installed: `npm run build` packs it. */
export const main: string = fileURLToPath(
  new URL('../../../dist/program/ostler.js', import.meta.url),
);
/** The same before it is packed. */
export const unpacked: string = fileURLToPath(
  new URL('../../../dist/cli/main.js', import.meta.url),
);
const engineModule = fileURLToPath(new URL('simulated-engines.mjs', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A state directory of its own, the daemon on it, and the command line against it. */
export class CliWorld implements AsyncDisposable {
  readonly stateDir: string = mkdtempSync(join(tmpdir(), 'ostler-cli-'));
  readonly env: Readonly<Record<string, string>> = {
    PATH: process.env['PATH'] ?? '',
    HOME: this.stateDir,
    TERM: 'xterm-256color',
    OSTLER_STATE_DIR: this.stateDir,
  };
  daemon: ChildProcess | null = null;
  readonly #program: string;

  constructor(program: string = main) {
    this.#program = program;
  }

  async up(...flags: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    const args = [this.#program, 'up', '--json', '--engine-module', engineModule, ...flags];
    const child = spawn(process.execPath, args, {
      env: this.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.daemon = child;
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`ostler up ended with ${code}`);
      }),
    ])) as [string];
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  }

  async run(args: readonly string[], stdin = ''): Promise<Ran> {
    const child = spawn(process.execPath, [this.#program, ...args], { env: this.env });
    const read = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (read.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (read.stderr += chunk.toString()));
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdin.end(stdin);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...read };
  }

  async json(...args: readonly string[]): Promise<unknown> {
    const { stdout } = await this.run([...args, '--json']);
    return JSON.parse(stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { daemon } = this;
    if (daemon && daemon.exitCode === null && daemon.signalCode === null) {
      const { agents } = (await this.json('agents')) as { agents?: { name: string }[] };
      for (const { name } of agents ?? []) await this.run(['close', name]);
      const gone = once(daemon, 'exit');
      daemon.kill('SIGTERM');
      await gone;
    }
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}
