import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from './cli-world.js';

export type Document = Readonly<Record<string, unknown>>;

export interface MailRan {
  readonly code: number | null;
  readonly document: Document;
  readonly stderr: string;
}

export const sessions = {
  alice: '11111111-1111-4111-8111-111111111111',
  bob: '22222222-2222-4222-8222-222222222222',
  carol: '33333333-3333-4333-8333-333333333333',
} as const;

/** The command line in a home of its own, without a daemon. `alice` and `bob` are peers. */
export class MailCli implements Disposable {
  readonly dir: string = realpathSync(mkdtempSync(join(tmpdir(), 'ostler-mail-')));
  readonly db: string = join(this.dir, 'mail', 'mail.sqlite3');
  readonly workDir: string = join(this.dir, 'work');
  readonly binDir: string = join(this.dir, 'bin');
  readonly env: Readonly<Record<string, string>> = {
    PATH: `${this.binDir}:/usr/bin:/bin`,
    HOME: this.dir,
    OSTLER_STATE_DIR: join(this.dir, 'no-daemon'),
  };

  constructor() {
    mkdirSync(this.workDir);
    mkdirSync(this.binDir);
  }

  /** With the peers alice and bob in the file of `db`. */
  static async withPeers(): Promise<MailCli> {
    const cli = new MailCli();
    for (const name of ['alice', 'bob'] as const) await cli.addPeer(name);
    return cli;
  }

  async addPeer(
    name: keyof typeof sessions,
    env: Readonly<Record<string, string>> = { OSTLER_MAIL_DB: this.db },
  ): Promise<void> {
    const address = [
      '--engine',
      'claude',
      '--session',
      sessions[name],
      '--workspace',
      this.workDir,
    ];
    await this.run(['peer', 'add', name, ...address], env);
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn(process.execPath, [main, 'mail', ...args], { env: { ...this.env, ...env } });
  }

  async run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = { OSTLER_MAIL_DB: this.db },
  ): Promise<MailRan> {
    return await ended(this.start(args, env));
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** The one document it says, or none where it says nothing. */
export async function ended(child: ChildProcess): Promise<MailRan> {
  const read = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (read.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (read.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  const document = read.stdout === '' ? {} : (JSON.parse(read.stdout) as Document);
  return { code, document, stderr: read.stderr };
}
