import { type HelloRequest, protocolVersion, type ResultOf, resyncSchema } from '@ostler/protocol';
import { type Clock, type Ids, isCoded, type Timer } from '@ostler/runtime';
import { aborted, ClientError } from './client-error.js';
import { Connection } from './connection.js';
import { EventCursor, type ResumePoint } from './cursor.js';
import { type ClientLimits, delayBefore, type ReconnectLimits } from './limits.js';
import { type CallableOperation, type FieldsOf, isRead } from './operations.js';
import type { Connector } from './transport.js';

export interface LinkOptions {
  readonly connector: Connector;
  readonly token: string | undefined;
  readonly capabilities: readonly string[];
  readonly resume: ResumePoint | null;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: ClientLimits;
  /** Null: a lost connection is the end. */
  readonly reconnect: ReconnectLimits | null;
}

export interface LinkSink {
  /** Every frame that is no answer; `resync` and events have passed the cursor. */
  frame(frame: Readonly<Record<string, unknown>>, isAgain: boolean): void;
  connected(hello: ResultOf<'hello'>): void;
  lost(reason: string): void;
  /** Once, last. Null where the user closed it. */
  ended(error: ClientError | null): void;
}

/** Refusals another attempt would meet again. */
const lastingCodes = ['MACHINE_CHANGED', 'PROTO_UNSUPPORTED', 'REVOKED', 'UNAUTHENTICATED'];

/** A connection that is made again when it is lost. It never sends a mutation twice. */
export class Link {
  readonly #options: LinkOptions;
  readonly #sink: LinkSink;
  readonly #cursor: EventCursor;
  readonly #gone = new AbortController();
  readonly #waiting = new Set<(connection: Connection | ClientError) => void>();
  #connection: Connection | null = null;
  #hello: ResultOf<'hello'> | null = null;
  #end: { readonly error: ClientError | null } | null = null;
  /** What comes before anybody listens; null once somebody does. The place moves as frames are told. */
  #held: Readonly<Record<string, unknown>>[] | null = [];
  #isStarting = false;
  #failedAttempts = 0;
  #stable: Timer | null = null;

  private constructor(options: LinkOptions, sink: LinkSink) {
    this.#options = options;
    this.#sink = sink;
    this.#cursor = new EventCursor(options.resume);
  }

  /** The first connection is tried once. */
  static async open(
    options: LinkOptions,
    sinkOf: (link: Link) => LinkSink,
    signal?: AbortSignal,
  ): Promise<Link> {
    const holder: { sink: LinkSink | null } = { sink: null };
    const link = new Link(options, {
      frame: (frame, isAgain) => holder.sink?.frame(frame, isAgain),
      connected: (hello) => holder.sink?.connected(hello),
      lost: (reason) => holder.sink?.lost(reason),
      ended: (error) => holder.sink?.ended(error),
    });
    holder.sink = sinkOf(link);
    try {
      await link.#connect(signal);
    } catch (failure) {
      link.#finish(failure instanceof ClientError ? failure : null);
      throw failure;
    }
    return link;
  }

  get hello(): ResultOf<'hello'> {
    if (!this.#hello) throw new TypeError('there was no hello yet');
    return this.#hello;
  }

  get point(): ResumePoint | null {
    return this.#cursor.point;
  }

  get isConnected(): boolean {
    return this.#connection !== null;
  }

  /** Frames are told from the next microtask on: all who listen by then miss nothing. */
  start(): void {
    if (!this.#held || this.#isStarting) return;
    this.#isStarting = true;
    queueMicrotask(() => this.#release());
  }

  async call<Name extends CallableOperation>(
    operation: Name,
    fields: FieldsOf<Name>,
    signal?: AbortSignal,
    onAnswer?: (result: ResultOf<Name>) => void,
  ): Promise<ResultOf<Name>> {
    const { limits } = this.#options;
    const ownWaitMs = 'timeoutMs' in fields ? Number(fields.timeoutMs) : 0;
    const timeoutMs = limits.answerTimeoutMs + ownWaitMs;
    for (let attempt = 1; ; attempt += 1) {
      const connection = this.#connection ?? (await this.#whenConnected(signal));
      try {
        return await connection.request(operation, fields, {
          timeoutMs,
          signal,
          ...(onAnswer ? { onAnswer } : {}),
        });
      } catch (failure) {
        // What was not sent may go out on the next connection; what was sent only where it is a read.
        const mayGoAgain =
          isCoded(failure, 'NOT_CONNECTED') ||
          (isCoded(failure, 'CONNECTION_LOST') && isRead(operation));
        if (!mayGoAgain || this.#end || attempt >= limits.maxReadAttempts) throw failure;
      }
    }
  }

  close(): void {
    this.#finish(null);
  }

  #whenConnected(signal?: AbortSignal): Promise<Connection> {
    const { clock, limits } = this.#options;
    if (this.#end) return Promise.reject(this.#endError());
    if (signal?.aborted) return Promise.reject(aborted(signal, 'not_carried_out'));
    if (this.#waiting.size >= limits.maxWaitingCalls) {
      const text = `${limits.maxWaitingCalls} calls wait for a connection already`;
      return Promise.reject(new ClientError('TOO_MANY_REQUESTS', 'not_carried_out', text));
    }
    return new Promise((resolve, reject) => {
      const settle = (outcome: Connection | ClientError): void => {
        this.#waiting.delete(settle);
        timer[Symbol.dispose]();
        signal?.removeEventListener('abort', abort);
        if (outcome instanceof Connection) resolve(outcome);
        else reject(outcome);
      };
      const abort = (): void => {
        if (signal) settle(aborted(signal, 'not_carried_out'));
      };
      const timer = clock.setTimer(limits.answerTimeoutMs, () =>
        settle(
          new ClientError(
            'NOT_CONNECTED',
            'not_carried_out',
            `no connection in ${limits.answerTimeoutMs} ms; nothing was sent`,
          ),
        ),
      );
      signal?.addEventListener('abort', abort);
      this.#waiting.add(settle);
    });
  }

  async #connect(signal?: AbortSignal): Promise<void> {
    const { clock, connector, limits } = this.#options;
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    const timer = clock.setTimer(limits.connectTimeoutMs, abort);
    for (const outer of [signal, this.#gone.signal]) {
      if (outer?.aborted) abort();
      outer?.addEventListener('abort', abort);
    }
    const parts = {
      ...this.#options,
      onFrame: (connection: Connection, frame: Readonly<Record<string, unknown>>) => {
        if (connection === this.#connection) this.#hold(frame);
      },
      onClosed: (connection: Connection, reason: string) => this.#lost(connection, reason),
    };
    try {
      await Connection.open(
        parts,
        connector,
        this.#helloFields(),
        (connection, hello) => this.#welcomed(connection, hello),
        attempt.signal,
      );
    } catch (failure) {
      if (signal?.aborted) throw aborted(signal, 'not_carried_out');
      throw connectFailure(failure);
    } finally {
      timer[Symbol.dispose]();
      for (const outer of [signal, this.#gone.signal]) outer?.removeEventListener('abort', abort);
    }
    if (this.#end) throw this.#endError();
  }

  #helloFields(): Omit<HelloRequest, 'type' | 'requestId'> {
    const { capabilities, token } = this.#options;
    const resume = this.#cursor.ask();
    return {
      proto: protocolVersion,
      capabilities,
      ...(token === undefined ? {} : { token }),
      ...(resume ? { resume } : {}),
    };
  }

  #welcomed(connection: Connection, hello: ResultOf<'hello'>): void {
    if (this.#end) {
      connection.close();
      return;
    }
    if (this.#hello && this.#hello.machineId !== hello.machineId) {
      this.#finish(
        new ClientError(
          'MACHINE_CHANGED',
          'not_carried_out',
          'another machine answers at this address; make a new client for it',
        ),
      );
      connection.close();
      return;
    }
    this.#hello = hello;
    this.#connection = connection;
    this.#cursor.welcome(hello);
    const { clock, reconnect } = this.#options;
    if (reconnect) {
      this.#stable = clock.setTimer(reconnect.stableAfterMs, () => {
        this.#failedAttempts = 0;
      });
    }
    this.#sink.connected(hello);
    for (const settle of [...this.#waiting]) settle(connection);
  }

  #hold(frame: Readonly<Record<string, unknown>>): void {
    if (!this.#held) this.#take(frame);
    else {
      this.#held.push(frame);
      if (this.#held.length > this.#options.limits.maxBufferedEvents) this.#release();
    }
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const frame of held) this.#take(frame);
  }

  #take(frame: Readonly<Record<string, unknown>>): void {
    if (frame['type'] === 'event') {
      const { eventId } = frame;
      if (typeof eventId !== 'number' || !Number.isSafeInteger(eventId)) return;
      const standing = this.#cursor.take(eventId);
      if (standing === 'old') return;
      if (standing === 'again' && frame['kind'] !== 'turn.result') return;
      this.#sink.frame(frame, standing === 'again');
      return;
    }
    if (frame['type'] === 'resync') {
      const resync = resyncSchema.safeParse(frame);
      if (resync.success) this.#cursor.resync(resync.data);
    }
    this.#sink.frame(frame, false);
  }

  #lost(connection: Connection, reason: string): void {
    if (connection !== this.#connection) return;
    this.#connection = null;
    this.#stable?.[Symbol.dispose]();
    if (this.#end) return;
    // Not told to anybody, so the next connection is asked for them.
    if (this.#held) this.#held = [];
    this.#sink.lost(reason);
    if (this.#options.reconnect) void this.#reconnect(this.#options.reconnect, reason);
    else this.#finish(lostForGood(reason));
  }

  /** Ends by a connection or by `#finish`; never rejects. */
  async #reconnect(limits: ReconnectLimits, lostBecause: string): Promise<void> {
    let reason = lostBecause;
    while (!this.#end) {
      if (this.#failedAttempts >= limits.maxAttempts) {
        this.#finish(lostForGood(`${reason}; ${limits.maxAttempts} attempts to connect again`));
        return;
      }
      this.#failedAttempts += 1;
      await this.#pause(delayBefore(this.#failedAttempts, limits, this.#chance()));
      if (this.#end) return;
      try {
        await this.#connect();
        return;
      } catch (failure) {
        if (failure instanceof ClientError && lastingCodes.includes(failure.code)) {
          this.#finish(failure);
          return;
        }
        reason = failure instanceof Error ? failure.message : String(failure);
      }
    }
  }

  #pause(delayMs: number): Promise<void> {
    const { signal } = this.#gone;
    return new Promise((resolve) => {
      const done = (): void => {
        timer[Symbol.dispose]();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.#options.clock.setTimer(delayMs, done);
      signal.addEventListener('abort', done);
    });
  }

  /** 0 to 1, from the injected ids: a run with counted ids repeats exactly. */
  #chance(): number {
    return Number.parseInt(this.#options.ids.uuid().slice(0, 8), 16) / 0x1_0000_0000;
  }

  #endError(): ClientError {
    const error = this.#end?.error;
    if (error) {
      return new ClientError(error.code, 'not_carried_out', error.message, { cause: error });
    }
    return new ClientError('CLIENT_CLOSED', 'not_carried_out', 'this client was closed');
  }

  #finish(error: ClientError | null): void {
    if (this.#end) return;
    this.#end = { error };
    this.#stable?.[Symbol.dispose]();
    const connection = this.#connection;
    this.#connection = null;
    connection?.close();
    this.#gone.abort();
    for (const settle of [...this.#waiting]) settle(this.#endError());
    this.#sink.ended(error);
  }
}

function lostForGood(reason: string): ClientError {
  return new ClientError(
    'CONNECTION_LOST',
    'not_carried_out',
    `the connection was lost (${reason})`,
  );
}

function connectFailure(failure: unknown): ClientError {
  if (failure instanceof ClientError) {
    const { code, details, message } = failure;
    if (code !== 'CONNECTION_LOST' && code !== 'ABORTED' && code !== 'ANSWER_TIMEOUT') {
      return new ClientError(code, 'not_carried_out', message, { cause: failure, details });
    }
  }
  const why = failure instanceof Error ? failure.message : String(failure);
  return new ClientError('CONNECT_FAILED', 'not_carried_out', `no connection: ${why}`, {
    cause: failure,
  });
}
