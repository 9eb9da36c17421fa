import type { PastedNote } from '@ostler/controller';
import type { HostSummary } from '@ostler/protocol';
import { type Clock, CodedError, isCoded, type Logger } from '@ostler/runtime';
import type {
  AdoptedTerminal,
  OpenedTerminal,
  SessionRecord,
  TerminalSource,
} from '@ostler/service';
import {
  AgentTerminal,
  type AgentTerminalLaunchOptions,
  CastWriter,
  connectHost,
  type HostedPty,
  listHosts,
  type PtyHost,
} from '@ostler/terminal';
import { keptIn, keptText } from './kept-session.js';

/** The host of all sessions that did not ask for one of their own. */
const sharedHostId = 'shared';
/** How long an earlier daemon's host may take to answer at the start. */
const adoptWithinMs = 5_000;

/** Leaves room for a note with the longest text, whatever escaping makes of it. */
const maxRecordCharacters = 128 * 1024;

export interface HostsOptions {
  /** A private directory. */
  readonly dir: string;
  /** Higher than every one before it, of this daemon and of earlier ones: hosts follow the highest. */
  readonly nextEpoch: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A session that an earlier daemon left running. */
export interface FoundSession {
  readonly record: SessionRecord;
  readonly open: () => Promise<AdoptedTerminal>;
}

interface KnownHost {
  readonly host: PtyHost;
  agents: number;
}

/** Agents' terminals, in processes that outlive this one. */
export class Hosts implements TerminalSource, AsyncDisposable {
  readonly #options: HostsOptions;
  readonly #hosts = new Map<string, KnownHost>();
  /** One serves all first connections; a host that was lost wants a higher one. */
  #epoch: number;
  #epochIsSpent = false;
  readonly #connecting = new Map<string, Promise<KnownHost>>();

  constructor(options: HostsOptions) {
    this.#options = options;
    this.#epoch = options.nextEpoch();
  }

  summaries(): readonly HostSummary[] {
    return [...this.#hosts].map(([hostId, { agents, host }]) => ({
      hostId,
      pid: host.pid,
      version: host.version,
      agents,
    }));
  }

  async launch(
    options: AgentTerminalLaunchOptions,
    record: SessionRecord,
    isolate: boolean,
  ): Promise<OpenedTerminal> {
    const { agentId } = record;
    const { castPath, castTitle, clock, cols, env, rows } = options;
    const metadata = keptText({ record, note: null });
    if (metadata.length > maxRecordCharacters) {
      throw new CodedError(
        'LAUNCH_TOO_LARGE',
        `the agent's arguments and environment have more than ${maxRecordCharacters} characters together`,
      );
    }
    const cast =
      castPath === undefined
        ? undefined
        : await CastWriter.open({
            path: castPath,
            header: {
              width: cols,
              height: rows,
              env: { TERM: env['TERM'] ?? 'xterm-256color' },
              ...(castTitle !== undefined && { title: castTitle }),
            },
            ...(clock && { clock }),
          });
    try {
      const known = await this.#connected(isolate ? agentId : sharedHostId, true);
      const endpoint = await known.host.spawn({
        ...options,
        sessionId: agentId,
        metadata,
      });
      this.#count(known, endpoint);
      const { logger } = this.#options;
      const terminal = new AgentTerminal({
        endpoint,
        logger,
        ...(cast && { cast }),
        ...(clock && { clock }),
      });
      return { terminal, keepNote: this.#noteKeeper(endpoint, record) };
    } catch (failure) {
      await cast?.close();
      throw failure;
    }
  }

  /** The hosts an earlier daemon left. Throws CodedError HOST_DIR_UNSAFE. */
  async findHosts(): Promise<readonly string[]> {
    const hosts = await listHosts(this.#options.dir);
    return hosts.filter(({ alive }) => alive).map(({ hostId }) => hostId);
  }

  /** What runs in these hosts; one that doesn't answer is left alone. */
  async findSessions(hostIds: readonly string[]): Promise<readonly FoundSession[]> {
    const { logger } = this.#options;
    const found = await Promise.all(
      hostIds.map(async (hostId) => {
        try {
          return await this.#within(this.#sessionsOf(hostId));
        } catch (failure) {
          logger.error({ hostId, failure }, 'a host of running agents could not be reached');
          return [];
        }
      }),
    );
    return found.flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const hosts = [...this.#hosts.values()];
    this.#hosts.clear();
    await Promise.allSettled(hosts.map(({ host }) => host[Symbol.asyncDispose]()));
  }

  async #sessionsOf(hostId: string): Promise<readonly FoundSession[]> {
    const { clock, logger } = this.#options;
    const known = await this.#connected(hostId, false);
    const sessions = await known.host.sessions();
    return sessions.flatMap((session): readonly FoundSession[] => {
      const { metadata, sessionId, writesSinceMetadata } = session;
      const kept = keptIn(metadata);
      if (!kept || kept.record.agentId !== sessionId) {
        logger.error({ hostId, sessionId }, 'a running session is not one of ours; left alone');
        return [];
      }
      const { note, record } = kept;
      return [
        {
          record,
          open: async () => {
            const adopted = await known.host.adopt(sessionId);
            this.#count(known, adopted.endpoint);
            const terminal = await AgentTerminal.adopt({ adopted, clock, logger });
            const keepNote = this.#noteKeeper(adopted.endpoint, record);
            const left = { note, writesSince: writesSinceMetadata };
            return { terminal, left, keepNote };
          },
        },
      ];
    });
  }

  async #connected(hostId: string, startIfMissing: boolean): Promise<KnownHost> {
    const known = this.#hosts.get(hostId);
    if (known) return known;
    const under = this.#connecting.get(hostId) ?? this.#connect(hostId, startIfMissing);
    this.#connecting.set(hostId, under);
    try {
      return await under;
    } finally {
      this.#connecting.delete(hostId);
    }
  }

  async #connect(hostId: string, startIfMissing: boolean): Promise<KnownHost> {
    const { clock, dir, logger, nextEpoch } = this.#options;
    if (this.#epochIsSpent) this.#epoch = nextEpoch();
    this.#epochIsSpent = false;
    const epoch = this.#epoch;
    const host = await connectHost({ dir, hostId, startIfMissing, epoch, clock, logger });
    const known: KnownHost = { host, agents: 0 };
    this.#hosts.set(hostId, known);
    host.onLost((reason) => {
      if (this.#hosts.get(hostId) === known) this.#hosts.delete(hostId);
      this.#epochIsSpent = true;
      logger.info({ hostId, reason }, 'the connection to a host ended');
    });
    return known;
  }

  #count(known: KnownHost, endpoint: HostedPty): void {
    known.agents += 1;
    endpoint.onExit(() => void (known.agents -= 1));
  }

  /** The host takes frames in their order, so the note is there before the paste that follows it. */
  #noteKeeper(endpoint: HostedPty, record: SessionRecord): (note: PastedNote) => void {
    const { logger } = this.#options;
    return (note) => {
      endpoint.setMetadata(keptText({ record, note })).catch((failure: unknown) => {
        const code = isCoded(failure) ? failure.code : 'INTERNAL';
        logger.warn({ agentId: record.agentId, code }, 'a note could not be kept in the host');
      });
    };
  }

  async #within<Value>(work: Promise<Value>): Promise<Value> {
    const { clock } = this.#options;
    return await new Promise<Value>((resolve, reject) => {
      const timer = clock.setTimer(adoptWithinMs, () =>
        reject(new Error(`no answer within ${adoptWithinMs} ms`)),
      );
      work.then(resolve, reject).finally(() => timer[Symbol.dispose]());
    });
  }
}
