import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ModelScript,
  type ModelServer,
  openSandbox,
  type PinnedEngine,
  prepareRealEngine,
  type RealEngineLaunch,
  type RealEngineOptions,
  type Sandbox,
  startModelServer,
} from '@ostler/lab';
import { Mailbox, type OwnedTerminals } from '@ostler/mailbox';
import { ClaudeMailDoor, CodexMailDoor, type MailDoor } from '@ostler/engines/doors';
import { Disposables, randomIds, systemClock } from '@ostler/runtime';
import { readForeignDatabase } from '@ostler/store/sqlite';
import { type Agent, createOstler, type Ostler } from 'ostler';
import { enginesDir, roomDir } from './live-world.js';

const patienceMs = 40_000;
const lookAgainMs = 50;

/** A live engine with its own scripted model. */
export interface LiveEngine {
  readonly agent: Agent;
  readonly model: ModelServer;
  readonly launch: RealEngineLaunch;
}

/** Real engines in one home, offline, with a mailbox that reaches them. */
export class MailWorld implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly ostler: Ostler;
  readonly owned: Disposables;
  readonly binDir: string;
  readonly dbPath: string;

  private constructor(sandbox: Sandbox, ostler: Ostler, owned: Disposables) {
    this.sandbox = sandbox;
    this.ostler = ostler;
    this.owned = owned;
    this.binDir = join(sandbox.dir, 'bin');
    this.dbPath = join(sandbox.dir, 'mail', 'mail.sqlite3');
    mkdirSync(this.binDir);
  }

  static async open(): Promise<MailWorld> {
    const owned = new Disposables();
    const sandbox = owned.own(openSandbox({ roomDir, name: 'mail' }));
    const ostler = owned.own(await createOstler({ stateDir: join(sandbox.dir, 'state') }));
    owned.defer(() => ostler.close());
    return new MailWorld(sandbox, ostler, owned);
  }

  async prepare(
    pin: PinnedEngine,
    script: ModelScript,
    options: RealEngineOptions,
  ): Promise<{ model: ModelServer; launch: RealEngineLaunch }> {
    const model = this.owned.own(await startModelServer({ script }));
    const { homeDir, workDir } = this.sandbox;
    const launch = prepareRealEngine({
      ...pin,
      enginesDir,
      homeDir,
      workDir,
      modelUrl: model.url,
      options,
    });
    symlinkSync(launch.command, join(this.binDir, pin.engine));
    return { model, launch };
  }

  async launch(
    pin: PinnedEngine,
    script: ModelScript,
    options: RealEngineOptions,
  ): Promise<LiveEngine> {
    const { launch, model } = await this.prepare(pin, script, options);
    const { args, command, cwd, env } = launch;
    const { engine } = pin;
    const agent = await this.ostler.launch({ engine, command, args, cwd, env, cleanEnv: true });
    return { agent, model, launch };
  }

  /** What a process beside the engines sees. */
  env(launch: RealEngineLaunch): Record<string, string> {
    return { ...launch.env, PATH: `${this.binDir}:${launch.env['PATH'] ?? ''}` };
  }

  mailbox(env: Readonly<Record<string, string>>, terminals?: OwnedTerminals): Mailbox {
    const doors: readonly MailDoor[] = [
      new ClaudeMailDoor({ env }),
      new CodexMailDoor({ env, foreignRows: readForeignDatabase }),
    ];
    const mailbox = new Mailbox({ path: this.dbPath, doors, terminals });
    this.owned.own(mailbox);
    return mailbox;
  }

  /** The thread of the first turn, as the client's own database has it. */
  async codexThread(): Promise<string> {
    const file = join(this.sandbox.homeDir, '.codex', 'state_5.sqlite');
    let thread = '';
    await until('a thread in the state database', () => {
      try {
        const [row] = readForeignDatabase(file, `SELECT id FROM threads WHERE source = ?`, ['cli']);
        thread = typeof row?.['id'] === 'string' ? row['id'] : '';
      } catch {
        thread = '';
      }
      return thread !== '';
    });
    return thread;
  }

  async idle(agent: Agent): Promise<void> {
    await until('an idle composer', async () => {
      const { busy, composer, hold, readable } = (await agent.screen()).reading;
      return readable && composer !== null && !busy && hold === null;
    });
  }

  /** A prompt, until it is settled. */
  async prompt(agent: Agent, text: string): Promise<void> {
    const idempotencyKey = randomIds.uuid();
    await this.ostler.turnSend({ agentId: agent.agentId, idempotencyKey, text });
    await this.ostler.receiptWait(idempotencyKey, { until: 'settled', timeoutMs: 60_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.owned[Symbol.asyncDispose]();
  }
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + patienceMs;
  while (!(await holds())) {
    if (systemClock.monotonicMs() > deadlineMs) throw new Error(`${what} did not come true`);
    await new Promise<void>((resolve) => {
      systemClock.setTimer(lookAgainMs, resolve);
    });
  }
}

/** True once the model was given a text with `part` in it, whatever the engine put around it. */
export function modelHas(model: ModelServer, part: string): boolean {
  return model.requests().some((entry) => JSON.stringify(entry).includes(part));
}
