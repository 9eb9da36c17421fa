import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Daemon, type DaemonOptions } from '@ostler/daemon';
import { type SimulatedLaunch, simulatedEngine, simulatedLaunch } from '@ostler/lab';
import { Disposables } from '@ostler/runtime';
import type { OstlerClient } from '../client.js';

/** A real daemon in this process, with simulated agents in real hosts. */
export class DaemonRig implements AsyncDisposable {
  readonly stateDir: string;
  readonly #owned = new Disposables();
  readonly #options: Partial<DaemonOptions>;
  daemon!: Daemon;

  private constructor(options: Partial<DaemonOptions>) {
    const dir = mkdtempSync(join(tmpdir(), 'ostler-client-'));
    this.#owned.defer(() => rmSync(dir, { recursive: true, force: true }));
    this.stateDir = join(dir, 'state');
    this.#options = options;
    this.#owned.defer(() => this.daemon.close());
  }

  static async start(options: Partial<DaemonOptions> = {}): Promise<DaemonRig> {
    const rig = new DaemonRig(options);
    await rig.open();
    return rig;
  }

  async open(): Promise<void> {
    this.daemon = await Daemon.start({
      stateDir: this.stateDir,
      engines: [simulatedEngine],
      version: '0.0.0',
      localLimits: { rateBurst: 100_000, ratePerSecond: 100_000, maxInFlight: 64 },
      ...this.#options,
    });
  }

  /** A new daemon on the same directory; the agents live on. */
  async restart(): Promise<void> {
    await this.daemon.release();
    await this.open();
  }

  async launch(
    client: OstlerClient,
    name: string,
  ): Promise<{ readonly agentId: string; readonly control: SimulatedLaunch['control'] }> {
    const simulated = this.#owned.own(await simulatedLaunch({ script: {} }));
    const { args, command, control, cwd, engine, env } = simulated;
    const launch = { name, engine, command, args, cwd, env, cleanEnv: true };
    const { agentId } = await client.agent.launch(launch);
    return { agentId, control };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}
