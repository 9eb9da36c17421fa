import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulatedProgram } from '@ostler/lab';
import { systemClock } from '@ostler/runtime';
import { DaemonTerminals } from '../mail/daemon-terminals.js';
import { CliWorld, main, type Ran } from './cli-world.js';
import type { Document } from './mail-cli.js';

const mailEngines = fileURLToPath(new URL('mail-engines.mjs', import.meta.url));
const wrapper = fileURLToPath(new URL('terminal-wrapper.js', import.meta.url));
const askerSession = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';
const patienceMs = 20_000;
const lookAgainMs = 20;

/** A daemon whose agents can have mail, and the command line beside it. */
export class MailWorld implements AsyncDisposable {
  readonly cli: CliWorld = new CliWorld();
  readonly workDir: string = join(this.cli.stateDir, 'work');
  readonly terminals: DaemonTerminals = new DaemonTerminals({ stateDir: this.cli.stateDir });

  constructor() {
    mkdirSync(this.workDir);
  }

  static async open(): Promise<MailWorld> {
    const world = new MailWorld();
    await world.up();
    await world.mail(
      'peer',
      'add',
      'asker',
      '--engine',
      'codex',
      '--session',
      askerSession,
      '--workspace',
      world.workDir,
    );
    return world;
  }

  async up(): Promise<void> {
    await this.cli.up('--log-level', 'silent', '--engine-module', mailEngines);
  }

  async run(...args: readonly string[]): Promise<Ran> {
    return await this.cli.run(args);
  }

  async mail(...args: readonly string[]): Promise<{ code: number | null; document: Document }> {
    const ran = await this.cli.run(['mail', ...args]);
    return { code: ran.code, document: JSON.parse(ran.stdout) as Document };
  }

  /** A simulated agent in a terminal of the daemon, registered as the peer of its name. */
  async launch(name: string, sessionId: string, script: object = {}): Promise<string> {
    const agentId = await this.start(name, sessionId, script);
    await this.addPeer(name, sessionId);
    return agentId;
  }

  /** The same without a peer; its session is known when this resolves. */
  async start(name: string, sessionId: string, script: object = {}): Promise<string> {
    const agentId = await this.#launch(name, [
      simulatedProgram(),
      ...['--session-id', sessionId, '--script-json', JSON.stringify(script)],
    ]);
    const known = async (): Promise<boolean> => (await this.terminals.sessionOf(agentId)) !== null;
    await until(`the session of ${name}`, known);
    return agentId;
  }

  /** As `launch`, behind a program that runs `ostler mail inbox` in the terminal first. */
  async launchInside(name: string, sessionId: string): Promise<Document> {
    const note = join(this.cli.stateDir, `${name}.json`);
    await this.addPeer(name, sessionId);
    await this.#launch(name, [wrapper, note, main, simulatedProgram(), '--session-id', sessionId]);
    let said: Document = {};
    await until('the note', () => {
      try {
        said = JSON.parse(readFileSync(note, 'utf8')) as Document;
      } catch {
        return false;
      }
      return true;
    });
    return said;
  }

  async addPeer(name: string, sessionId: string): Promise<void> {
    await this.mail(
      'peer',
      'add',
      name,
      '--engine',
      'claude',
      '--session',
      sessionId,
      '--workspace',
      this.workDir,
    );
  }

  /** Every prompt in the agent's own record. */
  prompts(agentId: string): readonly string[] {
    const dir = join(this.cli.stateDir, 'sessions', agentId);
    return readdirSync(dir)
      .filter((file) => file.endsWith('.jsonl'))
      .flatMap((file) => readFileSync(join(dir, file), 'utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { type: string; text?: string })
      .flatMap(({ text, type }) => (type === 'accepted' ? [text ?? ''] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cli[Symbol.asyncDispose]();
  }

  async #launch(name: string, args: readonly string[]): Promise<string> {
    const { stdout } = await this.cli.run([
      ...['run', name, '--engine', 'claude', '--detach', '--json', '--cwd', this.workDir],
      ...[
        '--clean-env',
        '--env',
        `PATH=${process.env['PATH']}`,
        '--env',
        `HOME=${this.cli.stateDir}`,
      ],
      ...['--', process.execPath, ...args],
    ]);
    return String((JSON.parse(stdout) as Document)['agentId']);
  }
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + patienceMs;
  while (!(await holds())) {
    if (systemClock.monotonicMs() > deadlineMs) throw new Error(`${what} did not come true`);
    await new Promise<void>((resolve) => void systemClock.setTimer(lookAgainMs, resolve));
  }
}
