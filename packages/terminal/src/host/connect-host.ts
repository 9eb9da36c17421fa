import { isAbsolute } from 'node:path';
import {
  type Clock,
  CodedError,
  Emitter,
  isCoded,
  type Logger,
  silentLogger,
  systemClock,
} from '@ostler/runtime';
import { type PtySpawnOptions, ptyLimits } from '../in-process-pty.js';
import type { OutputPart, ScreenCheckpoint, TerminalSize } from '../pty-endpoint.js';
import { booleanOf, numberOf, recordOf, textOf } from './fields.js';
import { type Frame, isRecord } from './frame.js';
import { HostClient, type LostReason } from './host-client.js';
import type { HostErrorCode } from './host-errors.js';
import { type HostLimits, protocolMajor } from './host-limits.js';
import {
  checkHostId,
  ensurePrivateDir,
  type HostClaim,
  isClaimantAlive,
  isErrno,
  readClaims,
} from './host-place.js';
import { HostedPty } from './hosted-pty.js';
import { type HostedSessionInfo, identityOf, sessionOf } from './replies.js';
import { startHost } from './start-host.js';

export interface ConnectHostOptions {
  /** A private directory, absolute; made where it is missing. */
  readonly dir: string;
  /** 1 to 64 letters, digits, `-` and `_`: one for all sessions of a directory, or one for each. */
  readonly hostId: string;
  readonly startIfMissing: boolean;
  /**
   * Rises with every daemon of this directory: a host follows none with a lower one than
   * it has seen, or with the same. Left out, the newest connection wins.
   */
  readonly epoch?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** For a host that is started here. */
  readonly limits?: Partial<HostLimits>;
}

export interface HostedSpawnOptions extends PtySpawnOptions {
  readonly sessionId: string;
  /** Kept for whoever adopts the session; nothing here reads it. At most 256 Ki characters. */
  readonly metadata: string;
  /** Output kept by the host; its own default where left out. At most 64 MiB. */
  readonly logBytes?: number;
}

/** A session taken over from its host: `AgentTerminal.adopt` makes a terminal of it. */
export interface AdoptedPty {
  /** Goes on where `log` ends. */
  readonly endpoint: HostedPty;
  readonly info: HostedSessionInfo;
  /** The newest the host was given; null when it was given none. */
  readonly checkpoint: ScreenCheckpoint | null;
  /** What the child wrote since the checkpoint, or since its start; sizes as at the log's beginning. */
  readonly log: TerminalSize & { readonly parts: readonly OutputPart[] };
  /** A part of it was lost: the log alone doesn't give the screen. */
  readonly logOverran: boolean;
}

/** A host process and the right to control it, until another connection takes it over. */
export interface PtyHost extends AsyncDisposable {
  readonly pid: number;
  readonly version: string;
  readonly socketPath: string;
  /** This connection's epoch. */
  readonly epoch: number;
  /** What the host can do beyond the first words of the protocol. */
  readonly features: readonly string[];
  /** Why the connection ended; null while it stands. */
  readonly lost: LostReason | null;
  /**
   * Errors as in `spawnPty`, and CodedError HOST_SESSION_EXISTS, HOST_TOO_MANY,
   * HOST_BAD_REQUEST, HOST_SUPERSEDED, HOST_LOST, HOST_SILENT. After the last two the
   * child may have been started: `sessions` of the next connection tells.
   */
  spawn(options: HostedSpawnOptions): Promise<HostedPty>;
  sessions(): Promise<readonly HostedSessionInfo[]>;
  /** Throws CodedError HOST_SESSION_UNKNOWN, and as `spawn`. */
  adopt(sessionId: string): Promise<AdoptedPty>;
  /**
   * Called once, and not for a disposal: the host has gone, has ended with its last
   * session, or follows another daemon.
   */
  onLost(listener: (reason: LostReason) => void): Disposable;
}

/**
 * Connects to the host `hostId` of `dir` and takes control of it, from whoever had it.
 * Throws CodedError HOST_DIR_UNSAFE, HOST_BAD_REQUEST, HOST_MISSING, HOST_START_FAILED,
 * HOST_UNREACHABLE, HOST_PROTOCOL, HOST_TOKEN_REFUSED, HOST_EPOCH_STALE.
 *
 * Disposal ends the connection only: the host and its sessions stay. A session that was
 * not released before is let go of as it is.
 */
export async function connectHost(options: ConnectHostOptions): Promise<PtyHost> {
  const { dir, hostId } = options;
  checkHostId(hostId);
  if (!isAbsolute(dir))
    throw new CodedError<HostErrorCode>(
      'HOST_BAD_REQUEST',
      'give the directory as an absolute path',
    );
  ensurePrivateDir(dir);
  for (let attempt = 1; ; attempt += 1) {
    const claim = readClaims(dir, hostId).find(isClaimantAlive);
    if (claim) {
      const host = await tryConnect(options, claim);
      if (host) return host;
    } else if (!options.startIfMissing)
      throw new CodedError<HostErrorCode>(
        'HOST_MISSING',
        `no host ${hostId} runs in ${dir}; let one be started`,
        { details: { dir, hostId } },
      );
    if (attempt >= maxAttempts)
      throw new CodedError<HostErrorCode>(
        'HOST_UNREACHABLE',
        `host ${hostId} lives as process ${claim?.pid ?? 'unknown'} and takes no connection; end it and try again`,
        { details: { dir, hostId, pid: claim?.pid ?? null } },
      );
    if (options.startIfMissing)
      await startHost({
        dir,
        hostId,
        clock: options.clock ?? systemClock,
        limits: options.limits ?? {},
      });
  }
}

const maxAttempts = 4;

/** Null when nobody listens there: the host is about to begin, or has just ended. */
async function tryConnect(options: ConnectHostOptions, claim: HostClaim): Promise<PtyHost | null> {
  const host = new ConnectedHost(options, claim);
  try {
    await host.open();
    return host;
  } catch (failure) {
    await host[Symbol.asyncDispose]();
    if (isErrno(failure, 'ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE')) return null;
    if (isCoded(failure, 'HOST_LOST')) return null;
    throw failure;
  }
}

class ConnectedHost implements PtyHost {
  readonly pid: number;
  readonly socketPath: string;
  readonly #options: ConnectHostOptions;
  readonly #claim: HostClaim;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #sessions = new Map<number, HostedPty>();
  readonly #events: Emitter<{ lost: LostReason }> = new Emitter();
  #client: HostClient | undefined;
  #version: string;
  #epoch = 0;
  #features: readonly string[] = [];

  constructor(options: ConnectHostOptions, claim: HostClaim) {
    this.#options = options;
    this.#claim = claim;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? silentLogger;
    this.pid = claim.pid;
    this.socketPath = claim.socketPath;
    this.#version = claim.version;
  }

  get version(): string {
    return this.#version;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get features(): readonly string[] {
    return this.#features;
  }

  get lost(): LostReason | null {
    return this.#client?.lost ?? null;
  }

  async open(): Promise<void> {
    const { dir, epoch } = this.#options;
    const client = await HostClient.connect({
      dir,
      socketPath: this.#claim.socketPath,
      clock: this.#clock,
      logger: this.#logger,
      onEvent: (frame) => this.#event(frame),
      onLost: (reason) => this.#lose(reason),
    });
    this.#client = client;
    const { ok } = await client.request({
      do: 'hello',
      token: this.#claim.token,
      observe: false,
      epoch: epoch ?? null,
    });
    const major = numberOf(ok, 'major');
    if (major !== protocolMajor)
      throw new CodedError<HostErrorCode>(
        'HOST_PROTOCOL',
        `host ${this.#claim.hostId} speaks protocol ${major}, this one ${protocolMajor}; use the version of Ostler that started it, or end its agents`,
        { details: { major, version: this.#claim.version } },
      );
    this.#version = textOf(ok, 'version', 64);
    this.#epoch = numberOf(ok, 'epoch');
    const features = ok['features'];
    this.#features = Array.isArray(features) ? features.map(String) : [];
  }

  async spawn(options: HostedSpawnOptions): Promise<HostedPty> {
    const { sessionId, metadata, file, args, cwd, env, cols, rows, name, limits } = options;
    const request = {
      do: 'spawn',
      ...{ sessionId, metadata, file, args, cwd, env, cols, rows },
      ...{ name: name ?? null, limits: limits ?? null, logBytes: options.logBytes ?? null },
    };
    return this.#live().requestThen(request, ({ ok }) => this.#hosted(ok, limits));
  }

  async sessions(): Promise<readonly HostedSessionInfo[]> {
    const { ok } = await this.#live().request({ do: 'sessions' });
    const sessions = ok['sessions'];
    if (!Array.isArray(sessions)) return [];
    return sessions.filter(isRecord).map(sessionOf);
  }

  async adopt(sessionId: string): Promise<AdoptedPty> {
    const begun = await this.#live().requestThen({ do: 'adopt', sessionId }, ({ ok, body }) => {
      const endpoint = this.#hosted(ok, undefined);
      return {
        endpoint,
        info: sessionOf(ok),
        size: { cols: endpoint.cols, rows: endpoint.rows },
        checkpoint: booleanOf(ok, 'hasCheckpoint')
          ? { offset: numberOf(ok, 'from'), blob: Uint8Array.from(body) }
          : null,
        parts: endpoint.collect(numberOf(ok, 'until')),
      };
    });
    const { endpoint, info, size, checkpoint } = begun;
    const parts = await begun.parts;
    const logOverran = parts.some(({ kind }) => kind === 'lost');
    return { endpoint, info, checkpoint, log: { ...size, parts }, logOverran };
  }

  onLost(listener: (reason: LostReason) => void): Disposable {
    return this.#events.on('lost', listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.end();
  }

  #live(): HostClient {
    if (this.#client) return this.#client;
    throw new CodedError<HostErrorCode>('HOST_LOST', 'not connected to the host; connect first');
  }

  #hosted(ok: Readonly<Record<string, unknown>>, limits: PtySpawnOptions['limits']): HostedPty {
    const channel = numberOf(ok, 'channel');
    const pty = new HostedPty({
      client: this.#live(),
      sessionId: textOf(ok, 'sessionId', 1_024),
      channel,
      identity: identityOf(recordOf(ok, 'identity')),
      cols: numberOf(ok, 'startCols'),
      rows: numberOf(ok, 'startRows'),
      sizeSeq: numberOf(ok, 'sizeSeq'),
      offset: numberOf(ok, 'from'),
      clock: this.#clock,
      logger: this.#logger,
      closeGraceMs: limits?.closeGraceMs ?? ptyLimits.closeGraceMs,
      writeStallMs: limits?.writeStallMs ?? ptyLimits.writeStallMs,
      onClosed: () => {
        if (this.#sessions.get(channel) === pty) this.#sessions.delete(channel);
      },
    });
    this.#sessions.set(channel, pty);
    return pty;
  }

  #event(frame: Frame): void {
    const channel = frame.head['channel'];
    if (typeof channel !== 'number') {
      this.#logger.warn({}, 'the host refused what it was sent');
      return;
    }
    this.#sessions.get(channel)?.take(frame);
  }

  #lose(reason: LostReason): void {
    for (const session of [...this.#sessions.values()]) session.lost(reason);
    if (reason !== 'closed') this.#events.emit('lost', reason);
  }
}
