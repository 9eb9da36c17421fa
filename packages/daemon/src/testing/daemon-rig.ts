import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ScriptInput,
  type SimulatedLaunch,
  simulatedEngine,
  simulatedLaunch,
} from '@ostler/lab';
import { Disposables } from '@ostler/runtime';
import { Daemon, type DaemonOptions } from '../daemon.js';
import { RawClient } from './raw-client.js';

/** Requests enough for a test that isn't about their number. */
export const generous = { rateBurst: 100_000, ratePerSecond: 100_000, maxInFlight: 64 } as const;

/** A daemon on a directory of its own, with simulated agents in real hosts. */
export class DaemonRig implements AsyncDisposable {
  readonly stateDir: string;
  readonly #owned = new Disposables();
  readonly #options: Partial<DaemonOptions>;
  daemon!: Daemon;

  private constructor(options: Partial<DaemonOptions>) {
    const dir = mkdtempSync(join(tmpdir(), 'ostler-daemon-'));
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
      localLimits: generous,
      ...this.#options,
    });
  }

  /** A new daemon on the same directory; the agents live on. */
  async restart(): Promise<void> {
    await this.daemon.release();
    await this.open();
  }

  async client(fields: object = {}): Promise<RawClient> {
    return this.#owned.own(await RawClient.local(this.daemon.socketPath, fields));
  }

  async raw(): Promise<RawClient> {
    return this.#owned.own(await RawClient.connect(this.daemon.socketPath));
  }

  async launch(
    client: RawClient,
    name: string,
    script: ScriptInput = {},
  ): Promise<{ readonly agentId: string; readonly control: SimulatedLaunch['control'] }> {
    const simulated = this.#owned.own(await simulatedLaunch({ script }));
    const { args, command, control, cwd, engine, env } = simulated;
    const launched = await client.call('agent.launch', {
      ...{ name, engine, command, args, cwd, env },
      cleanEnv: true,
    });
    if (launched['error']) throw new Error(JSON.stringify(launched['error']));
    return { agentId: String(launched['agentId']), control };
  }

  target(agentId: string): { readonly machineId: string; readonly agentId: string } {
    return { machineId: this.daemon.machineId, agentId };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}
