import {
  inputStatusCapability,
  type ResultOf,
  type ResyncFrame,
  type TerminalFrame,
  turnCorrelationCapability,
} from '@ostler/protocol';
import { type Clock, type Ids, keepAliveClock, randomIds } from '@ostler/runtime';
import { type CallGroups, callGroups } from './call-groups.js';
import type { ResumePoint } from './cursor.js';
import { type ClientEvent, type ClientListeners, type EventFilter, EventHub } from './event-hub.js';
import {
  type ClientLimits,
  defaultClientLimits,
  defaultReconnectLimits,
  type ReconnectLimits,
} from './limits.js';
import { Link } from './link.js';
import type { Call, CallableOperation, FieldsOf } from './operations.js';
import { TerminalAttachment } from './terminal-attachment.js';
import type { Connector } from './transport.js';

export interface ConnectClientOptions {
  readonly connector: Connector;
  /** The device's secret, where the transport does not bring it. */
  readonly token?: string;
  /** What hello asks for; all this client knows where left out. */
  readonly capabilities?: readonly string[];
  /** Where an earlier client stopped (`client.resumePoint`). Only events from now on where left out. */
  readonly resume?: ResumePoint;
  /** False: a lost connection is the end. */
  readonly reconnect?: Partial<ReconnectLimits> | false;
  readonly limits?: Partial<ClientLimits>;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

export const terminalAttachCapability = 'terminal.attach.v1';

const allCapabilities = [
  inputStatusCapability,
  turnCorrelationCapability,
  terminalAttachCapability,
];
/** Frames of a view that came before the answer to its `agent.attach`. */
const maxEarlyFrames = 256;

/**
 * Connects and says hello; the first connection is tried once. Throws ClientError CONNECT_FAILED,
 * UNAUTHENTICATED, REVOKED, PROTO_UNSUPPORTED, ABORTED.
 */
export async function connectClient(
  options: ConnectClientOptions,
  signal?: AbortSignal,
): Promise<OstlerClient> {
  const hub = new EventHub();
  const terminals = new Terminals();
  hub.onTerminal((frame) => terminals.take(frame));
  const { reconnect } = options;
  const link = await Link.open(
    {
      connector: options.connector,
      token: options.token,
      capabilities: options.capabilities ?? allCapabilities,
      resume: options.resume ?? null,
      clock: options.clock ?? keepAliveClock,
      ids: options.ids ?? randomIds,
      limits: { ...defaultClientLimits, ...options.limits },
      reconnect: reconnect === false ? null : { ...defaultReconnectLimits, ...reconnect },
    },
    () => ({
      frame: (frame) => hub.frame(frame),
      connected: (hello) => hub.news({ state: 'connected', hello }),
      lost: (reason) => {
        terminals.lost(reason);
        hub.news({ state: 'lost', reason });
      },
      ended: (error) => {
        terminals.lost(error?.message ?? 'the client was closed');
        hub.news({ state: 'ended', error });
      },
    }),
    signal,
  );
  return new OstlerClient(link, hub, terminals, { ...defaultClientLimits, ...options.limits });
}

/**
 * A daemon, as one device. A lost connection is made again and goes on behind the last event. A
 * request that changes something is sent once: where its answer is lost it rejects with
 * CONNECTION_LOST and `outcome: 'unknown'`. Reads are asked again.
 */
export class OstlerClient implements AsyncDisposable {
  readonly turn: CallGroups['turn'];
  readonly receipt: CallGroups['receipt'];
  readonly question: CallGroups['question'];
  readonly focus: CallGroups['focus'];
  readonly agents: CallGroups['agents'];
  readonly agent: CallGroups['agent'];
  readonly device: CallGroups['device'];
  readonly server: CallGroups['server'];
  readonly #link: Link;
  readonly #hub: EventHub;
  readonly #terminals: Terminals;
  readonly #limits: ClientLimits;

  /** @internal Use `connectClient`. */
  constructor(link: Link, hub: EventHub, terminals: Terminals, limits: ClientLimits) {
    this.#link = link;
    this.#hub = hub;
    this.#terminals = terminals;
    this.#limits = limits;
    const groups = callGroups({
      machineId: () => this.machineId,
      call: (operation, fields, signal) => this.call(operation, fields, signal),
      attach: (fields, signal) => this.#attach(fields, signal),
    });
    this.turn = groups.turn;
    this.receipt = groups.receipt;
    this.question = groups.question;
    this.focus = groups.focus;
    this.agents = groups.agents;
    this.agent = groups.agent;
    this.device = groups.device;
    this.server = groups.server;
  }

  get machineId(): string {
    return this.#link.hello.machineId;
  }

  /** That of the last hello; a new one says that the server was started again. */
  get serverInstanceId(): string {
    return this.#link.hello.serverInstanceId;
  }

  /** Those in force. */
  get capabilities(): readonly string[] {
    return this.#link.hello.capabilities;
  }

  get isConnected(): boolean {
    return this.#link.isConnected;
  }

  /** Behind the last event that was told. Keep it to go on in another process. */
  get resumePoint(): ResumePoint {
    const { cursor, serverInstanceId } = this.#link.hello;
    return this.#link.point ?? { serverInstanceId, cursor };
  }

  /** Any operation, its answer checked. Rejects with a ClientError only. */
  call<Name extends CallableOperation>(
    operation: Name,
    fields: FieldsOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    this.#link.start();
    return this.#link.call(operation, fields, signal);
  }

  /**
   * Calls `listener` as frames are read, until disposed: by an event's kind, or `event`, `resync`,
   * `stream`, `connection`, `unreadable`. Until the first `on`, `events` or call, what comes is held
   * back: whoever listens in the same turn as the first misses nothing.
   */
  on<Name extends keyof ClientListeners & string>(
    name: Name,
    listener: (value: ClientListeners[Name]) => void,
  ): Disposable {
    this.#link.start();
    return this.#hub.on(name, listener);
  }

  /**
   * Events from this call on, once each and in order, over lost connections too; a `resync` among
   * them says that some are lost, and kept results may then come a second time. At most
   * `maxBufferedEvents` wait for the reader: past that it ends with EVENTS_OVERFLOW, behind what
   * had come before. Ends when the client is closed, or at `signal`.
   */
  events(
    filter: EventFilter = {},
    signal?: AbortSignal,
  ): AsyncIterableIterator<ClientEvent | ResyncFrame> {
    this.#link.start();
    const stream = this.#hub.events(filter, this.#limits.maxBufferedEvents);
    if (signal?.aborted) stream.end();
    signal?.addEventListener('abort', () => stream.end(), { once: true });
    return stream;
  }

  /** Ends the connection; calls that wait reject. Idempotent. */
  close(): Promise<void> {
    this.#link.close();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #attach(
    fields: FieldsOf<'agent.attach'>,
    signal?: AbortSignal,
  ): Promise<TerminalAttachment> {
    const call: Call = (operation, callFields, callSignal) =>
      this.call(operation, callFields, callSignal);
    this.#link.start();
    using opening = this.#terminals.opening();
    await this.#link.call('agent.attach', fields, signal, (answer) => {
      const attachment = new TerminalAttachment(answer, call, this.#limits, () =>
        this.#terminals.remove(answer.attachId),
      );
      opening.done(attachment);
    });
    return opening.attachment;
  }
}

/** The views of one client. Frames that came before their view is known are kept for it. */
class Terminals {
  readonly #open = new Map<string, TerminalAttachment>();
  #early: TerminalFrame[] = [];
  #openingCount = 0;

  opening(): Disposable & {
    done(attachment: TerminalAttachment): void;
    readonly attachment: TerminalAttachment;
  } {
    this.#openingCount += 1;
    let opened: TerminalAttachment | null = null;
    return {
      done: (attachment) => {
        opened = attachment;
        this.#open.set(attachment.attachId, attachment);
        const early = this.#early;
        this.#early = early.filter(({ attachId }) => attachId !== attachment.attachId);
        for (const frame of early) {
          if (frame.attachId === attachment.attachId) attachment.take(frame);
        }
      },
      get attachment() {
        if (!opened) throw new TypeError('nothing was opened');
        return opened;
      },
      [Symbol.dispose]: () => {
        this.#openingCount -= 1;
        if (this.#openingCount === 0) this.#early = [];
      },
    };
  }

  take(frame: TerminalFrame): void {
    const attachment = this.#open.get(frame.attachId);
    if (attachment) attachment.take(frame);
    else if (this.#openingCount > 0 && this.#early.length < maxEarlyFrames) this.#early.push(frame);
  }

  remove(attachId: string): void {
    this.#open.delete(attachId);
  }

  lost(reason: string): void {
    for (const attachment of [...this.#open.values()]) attachment.connectionLost(reason);
  }
}
