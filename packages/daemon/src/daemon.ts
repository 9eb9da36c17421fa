import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ControllerLimits } from '@ostler/controller';
import type { Engine } from '@ostler/engines';
import type { ResultOf } from '@ostler/protocol';
import {
  type Clock,
  Disposables,
  type Ids,
  type Logger,
  randomIds,
  silentLogger,
  systemClock,
} from '@ostler/runtime';
import { inProcessTerminals, Service } from '@ostler/service';
import { openStore, type ReceiptStore } from '@ostler/store';
import { Connection, type ConnectionParts } from './connection.js';
import { Devices } from './devices.js';
import { Hosts } from './hosts.js';
import { type DaemonLimits, defaultDaemonLimits } from './limits.js';
import { chooseSocketPath } from './listeners/socket-path.js';
import type { Accept, Listener } from './listeners/transport.js';
import { listenUnix } from './listeners/unix.js';
import { Metrics } from './metrics.js';
import { Subscriptions } from './subscriptions.js';
import { TerminalViews } from './terminal-views.js';
import { TokenGuard } from './token-guard.js';

export interface DaemonOptions {
  /** Absolute. Made where it is missing, and closed to others (0700). */
  readonly stateDir: string;
  readonly engines: readonly Engine[];
  /** What `server.status` says. */
  readonly version: string;
  /** Adds WebSocket. Beyond loopback only with `tls`. */
  readonly listen?: {
    readonly host: string;
    readonly port: number;
    readonly tls?: { readonly certPath: string; readonly keyPath: string };
    readonly allowHosts?: readonly string[];
    readonly allowOrigins?: readonly string[];
  };
  readonly limits?: Partial<DaemonLimits>;
  /** For the machine's own user; as for everyone where left out. */
  readonly localLimits?: Partial<ConnectionParts['localLimits']>;
  readonly controllerLimits?: Partial<ControllerLimits>;
  readonly maxAgents?: number;
  /** Of one device, at a time. 512 where left out; see the store's limits. */
  readonly maxReceiptsPerDevice?: number;
  /** False: agents live in this process and end with it. */
  readonly hosted?: boolean;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly logger?: Logger;
}

const defaultMaxAgents = 256;
const epochSetting = 'daemon_epoch';

/** The process others connect to: the service behind listeners, for identified devices, within quotas. */
export class Daemon implements AsyncDisposable {
  readonly service: Service;
  readonly #options: DaemonOptions;
  readonly #limits: DaemonLimits;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #store: ReceiptStore;
  readonly #devices: Devices;
  readonly #hosts: Hosts | null;
  readonly #metrics = new Metrics();
  readonly #tokenGuard: TokenGuard;
  readonly #connections = new Set<Connection>();
  readonly #listeners: Listener[] = [];
  readonly #owned = new Disposables();
  readonly #parts: ConnectionParts;
  readonly #startedAtMs: number;
  /** Resolves once the agents that ran are taken over, or have been tried; null from then on. */
  #adopting: Promise<void> | null = null;
  #stopping = false;
  #closed: Promise<void> | null = null;

  private constructor(options: DaemonOptions, store: ReceiptStore) {
    const { clock = systemClock, ids = randomIds, logger = silentLogger, stateDir } = options;
    this.#options = options;
    this.#limits = { ...defaultDaemonLimits, ...options.limits };
    this.#clock = clock;
    this.#logger = logger;
    this.#store = store;
    this.#startedAtMs = clock.nowMs();
    this.#devices = new Devices({ stateDir, clock, ids, maxDevices: this.#limits.maxDevices });
    this.#tokenGuard = new TokenGuard(clock, this.#limits);
    this.#hosts =
      options.hosted === false
        ? null
        : new Hosts({
            dir: join(stateDir, 'hosts'),
            nextEpoch: () => nextEpoch(store),
            clock,
            logger,
          });
    this.service = new Service({
      store,
      sessionsDir: join(stateDir, 'sessions'),
      engines: options.engines,
      clock,
      ids,
      logger,
      limits: options.controllerLimits ?? {},
      maxAgents: options.maxAgents ?? defaultMaxAgents,
      terminals: this.#hosts ?? inProcessTerminals,
      // What runs in an agent's terminal finds the daemon that owns it.
      agentEnv: { OSTLER_STATE_DIR: stateDir },
    });
    this.#parts = this.#connectionParts(ids);
    this.#owned.own(
      this.service.events.on('event', (stored) => {
        this.#metrics.add('events');
        for (const connection of this.#connections) connection.tell(stored);
      }),
    );
  }

  /**
   * Opens the state directory, listens, and takes over the agents that run. It serves meanwhile:
   * what is about receipts and devices is answered, and what is about agents waits for them.
   *
   * Throws CodedError STORE_LOCKED (another daemon has this state directory), the store's other
   * codes, DEVICES_CORRUPT, LISTEN_NEEDS_TLS, LISTEN_FAILED; then nothing is served.
   */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { clock = systemClock, ids = randomIds, stateDir } = options;
    const { maxReceiptsPerDevice: most } = options;
    const limits = most === undefined ? {} : { receiptsPerDeviceCount: most };
    const store = openStore({ stateDir, clock, ids, limits });
    let daemon: Daemon;
    try {
      daemon = new Daemon(options, store);
    } catch (failure) {
      store.close();
      throw failure;
    }
    try {
      await daemon.#open();
      void daemon.#metrics.export();
      return daemon;
    } catch (failure) {
      await daemon.release();
      throw failure;
    }
  }

  get serverInstanceId(): string {
    return this.service.serverInstanceId;
  }

  get machineId(): string {
    return this.service.machineId;
  }

  get socketPath(): string {
    return this.#listeners[0]?.address ?? '';
  }

  /** `ws://…` or `wss://…`, or null without one. */
  get listenAddress(): string | null {
    return this.#listeners[1]?.address ?? null;
  }

  /** Takes no new peer and no new work; true when what was under way came to its end in time. */
  async drain(withinMs: number = this.#limits.drainMs): Promise<boolean> {
    this.#stopping = true;
    for (const listener of this.#listeners) listener.stop();
    return await this.service.drain(withinMs);
  }

  /** Stops serving and lets the agents live on in their hosts; those of this process end. Idempotent. */
  release(): Promise<void> {
    this.#closed ??= this.#end(() => (this.#hosts ? this.service.release() : this.service.close()));
    return this.#closed;
  }

  /** Ends every agent, then stops serving. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#end(() => this.service.close());
    return this.#closed;
  }

  /** Drains, then releases. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) await this.drain();
    await this.release();
  }

  async #open(): Promise<void> {
    mkdirSync(join(this.#options.stateDir, 'sessions'), { recursive: true, mode: 0o700 });
    if (this.#hosts) {
      const adopting = this.#adopt(this.#hosts, await this.#hosts.findHosts());
      this.#adopting = adopting.finally(() => (this.#adopting = null));
    }
    const accept: Accept = (transport) => {
      if (this.#connections.size >= this.#limits.maxConnections || this.#stopping) {
        this.#metrics.add('connections_refused');
        return null;
      }
      this.#metrics.add('connections_opened');
      const connection = new Connection(this.#parts, transport);
      this.#connections.add(connection);
      return connection;
    };
    const clock = this.#clock;
    const logger = this.#logger;
    const socketPath = chooseSocketPath(this.#options.stateDir);
    this.#listeners.push(await listenUnix(socketPath, accept, { clock, logger }));
    const { listen } = this.#options;
    if (!listen) return;
    // Loaded where it is wanted: most daemons serve their own machine alone, and start sooner without.
    const { listenWebSocket } = await import('./listeners/websocket.js');
    const { allowHosts = [], allowOrigins = [], ...where } = listen;
    this.#listeners.push(
      await listenWebSocket(
        {
          ...where,
          allowHosts: allowHosts.map((host) => host.toLowerCase()),
          allowOrigins: allowOrigins.map((origin) => origin.toLowerCase()),
          pingIntervalMs: this.#limits.pingIntervalMs,
          mayConnect: (address) =>
            this.#connections.size < this.#limits.maxConnections &&
            !this.#tokenGuard.isShutOut(address),
          clock,
          logger,
        },
        accept,
      ),
    );
  }

  async #adopt(hosts: Hosts, hostIds: readonly string[]): Promise<void> {
    const found = await hosts.findSessions(hostIds);
    await Promise.all(
      found.map(async ({ open, record }) => {
        try {
          await this.service.adopt(record, await open());
          this.#metrics.add('agents_adopted');
        } catch (failure) {
          this.#logger.error(
            { agentId: record.agentId, failure },
            'a running agent could not be taken over; it is left alone',
          );
        }
      }),
    );
  }

  #connectionParts(ids: Ids): ConnectionParts {
    const { service } = this;
    const limits = this.#limits;
    return {
      service,
      devices: this.#devices,
      tokenGuard: this.#tokenGuard,
      metrics: this.#metrics,
      limits,
      localLimits: { ...limits, ...this.#options.localLimits },
      clock: this.#clock,
      logger: this.#logger,
      replay: (cursor, deviceId) => this.#store.replay(cursor, deviceId),
      resultsOf: (deviceId) => service.results(deviceId),
      cursor: () => this.#store.cursor().eventId,
      ownerOf: (deliveryId) => this.#store.getByDelivery(deliveryId)?.deviceId ?? null,
      subscriptions: (tell) => new Subscriptions(this.#clock, tell),
      views: new TerminalViews(limits, ids),
      adopting: () => this.#adopting,
      serverStatus: () => this.#status(),
      revokeDevice: (deviceId) => this.#revoke(deviceId),
      onClosed: (connection) => void this.#connections.delete(connection),
    };
  }

  #status(): ResultOf<'server.status'> {
    return {
      machineId: this.machineId,
      serverInstanceId: this.serverInstanceId,
      pid: process.pid,
      version: this.#options.version,
      startedAtMs: this.#startedAtMs,
      uptimeMs: this.#clock.nowMs() - this.#startedAtMs,
      agents: this.service.agents().length,
      connections: this.#connections.size,
      devices: this.#devices.count,
      rssBytes: process.memoryUsage.rss(),
      hosts: this.#hosts?.summaries() ?? [],
      metrics: this.#metrics.counts,
    };
  }

  #revoke(deviceId: string): void {
    this.service.revokeDevice(deviceId);
    for (const connection of this.#connections) {
      if (connection.deviceId === deviceId) connection.revoke();
    }
  }

  async #end(service: () => Promise<void>): Promise<void> {
    this.#stopping = true;
    for (const connection of [...this.#connections]) connection.end('server_stopped');
    await this.#owned[Symbol.asyncDispose]();
    await Promise.allSettled(this.#listeners.map((listener) => listener[Symbol.asyncDispose]()));
    this.#devices.save();
    await this.#adopting;
    await service();
    await this.#hosts?.[Symbol.asyncDispose]();
  }
}

/** Hosts follow the newest daemon: its number is higher than every earlier one's. */
function nextEpoch(store: ReceiptStore): number {
  const epoch = Number(store.setting(epochSetting) ?? '0') + 1;
  store.setSetting(epochSetting, String(epoch));
  return epoch;
}
