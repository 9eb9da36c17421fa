import { createServer, type Server } from 'node:net';
import { type Clock, CodedError, type Logger, type Timer } from '@ostler/runtime';
import { timingSafeEqual } from 'node:crypto';
import {
  booleanOf,
  numberOf,
  numberOrNull,
  textMapOf,
  textOf,
  textOrNull,
  textsOf,
} from './fields.js';
import { type Frame, isRecord } from './frame.js';
import { type ConnectionHandler, HostConnection } from './host-connection.js';
import type { HostErrorCode } from './host-errors.js';
import {
  type HostLimits,
  hostFeatures,
  hostVersion,
  maxCheckpointBytes,
  maxLogBytes,
  maxMetadataCharacters,
  maxNameCharacters,
  maxPathCharacters,
  maxStrangers,
  maxWriteBytes,
  protocolMajor,
  strangerMs,
} from './host-limits.js';
import { type HostClaim, makePrivate, removeClaim, socketAddress } from './host-place.js';
import { HostSession } from './host-session.js';
import { isSignal } from './signal-names.js';

export interface HostServerOptions {
  readonly dir: string;
  readonly claim: HostClaim;
  readonly limits: HostLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the host has nothing left to do. */
  readonly onDone: () => void;
}

type Answer = object | undefined | Promise<object | undefined>;

/**
 * The host's whole work: sessions, and the one connection that controls them. A newer
 * controller takes the older one's place; from then on nothing of the older one is
 * carried out.
 */
export class HostServer implements ConnectionHandler {
  readonly #options: HostServerOptions;
  readonly #server: Server;
  readonly #sessions = new Map<string, HostSession>();
  readonly #byChannel = new Map<number, HostSession>();
  readonly #connections = new Set<HostConnection>();
  #controller: HostConnection | null = null;
  #epoch = 0;
  #channels = 0;
  #spawning = 0;
  #hadSession = false;
  #done = false;
  #rest: Timer | null = null;

  constructor(options: HostServerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => {
      const strangers = [...this.#connections].filter(({ role }) => role === 'stranger');
      if (strangers.length >= maxStrangers || this.#done) socket.destroy();
      else this.#connections.add(new HostConnection(socket, this, options.clock, options.logger));
    });
    this.#server.on('error', (failure) =>
      options.logger.error({ reason: failure.message }, 'the socket failed'),
    );
  }

  async listen(): Promise<void> {
    const { dir, claim } = this.#options;
    const address = socketAddress(dir, claim.socketPath);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(address.path, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    makePrivate(address.path);
    this.#reconsider();
  }

  /** Hangs up on every child and ends them, then the host. */
  async endAll(): Promise<void> {
    const ended = await Promise.allSettled(
      [...this.#sessions.values()].map((session) => session.close()),
    );
    for (const outcome of ended)
      if (outcome.status === 'rejected')
        this.#options.logger.error({ failure: String(outcome.reason) }, 'a child would not end');
    this.#end();
  }

  request(connection: HostConnection, { head, body }: Frame): Answer {
    const word = textOf(head, 'do', maxNameCharacters);
    if (connection.role === 'superseded')
      throw new CodedError<HostErrorCode>(
        'HOST_SUPERSEDED',
        'another daemon controls this host now; nothing of this request was carried out',
      );
    if (word === 'hello') return this.#hello(connection, head);
    if (connection.role === 'stranger')
      throw new CodedError<HostErrorCode>('HOST_TOKEN_REFUSED', 'say hello with the token first');
    if (word === 'sessions')
      return { sessions: [...this.#sessions.values()].map((session) => session.describe()) };
    if (connection.role === 'observer')
      throw new CodedError<HostErrorCode>(
        'HOST_UNSUPPORTED',
        'an observer may only ask for sessions',
      );
    if (word === 'spawn') return this.#spawn(connection, head);
    if (word === 'adopt') return this.#adopt(connection, head);
    return this.#sessionRequest(connection, word, head, body);
  }

  room(connection: HostConnection): void {
    if (connection === this.#controller)
      for (const session of this.#sessions.values()) session.pump();
  }

  closed(connection: HostConnection): void {
    this.#connections.delete(connection);
    for (const session of this.#sessions.values()) session.detach(connection);
    if (this.#controller === connection) this.#controller = null;
    this.#reconsider();
  }

  #hello(connection: HostConnection, head: Frame['head']): object {
    const { claim, clock, logger } = this.#options;
    const given = Buffer.from(textOf(head, 'token', 128));
    const wanted = Buffer.from(claim.token);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      logger.warn({}, 'a wrong token was shown');
      queueMicrotask(() => connection.end());
      throw new CodedError<HostErrorCode>(
        'HOST_TOKEN_REFUSED',
        'this is not the token of this host; read its claim file again',
      );
    }
    const greeting = {
      major: protocolMajor,
      features: hostFeatures,
      version: hostVersion,
      pid: claim.pid,
      startTime: claim.startTime,
    };
    if (booleanOf(head, 'observe')) {
      connection.admit('observer');
      return { ...greeting, epoch: this.#epoch };
    }
    const asked = numberOrNull(head, 'epoch');
    if (asked !== null && asked <= this.#epoch)
      throw new CodedError<HostErrorCode>(
        'HOST_EPOCH_STALE',
        `this host follows epoch ${this.#epoch}; a daemon with epoch ${asked} is too old`,
        { details: { epoch: this.#epoch } },
      );
    this.#epoch = asked ?? this.#epoch + 1;
    const before = this.#controller;
    this.#controller = connection;
    connection.admit('controller');
    if (before && before !== connection) {
      before.role = 'superseded';
      for (const session of this.#sessions.values()) session.detach(before);
      before.send({ event: 'superseded' });
      before.end();
      // A daemon that was stopped doesn't end its side.
      clock.setTimer(strangerMs, () => before.destroy());
    }
    logger.info({ epoch: this.#epoch }, 'a daemon took control');
    return { ...greeting, epoch: this.#epoch };
  }

  async #spawn(connection: HostConnection, head: Frame['head']): Promise<undefined> {
    const { limits, clock, logger } = this.#options;
    const sessionId = textOf(head, 'sessionId', maxNameCharacters * 4);
    if (sessionId === '')
      throw new CodedError<HostErrorCode>('HOST_BAD_REQUEST', 'give the session a name');
    if (this.#sessions.has(sessionId))
      throw new CodedError<HostErrorCode>(
        'HOST_SESSION_EXISTS',
        'a session of this name is kept here; adopt it, or give another name',
      );
    if (this.#sessions.size + this.#spawning >= limits.maxSessions)
      throw new CodedError<HostErrorCode>(
        'HOST_TOO_MANY',
        `this host keeps ${limits.maxSessions} sessions already; close one, or use another host`,
      );
    const ptyLimits = head['limits'];
    const name = textOrNull(head, 'name', maxNameCharacters);
    this.#channels += 1;
    this.#spawning += 1;
    this.#reconsider();
    let session: HostSession;
    try {
      session = await HostSession.spawn({
        sessionId,
        channel: this.#channels,
        metadata: textOf(head, 'metadata', maxMetadataCharacters),
        file: textOf(head, 'file', maxPathCharacters),
        args: textsOf(head, 'args', 4_096),
        cwd: textOf(head, 'cwd', maxPathCharacters),
        env: textMapOf(head, 'env'),
        cols: numberOf(head, 'cols'),
        rows: numberOf(head, 'rows'),
        ...(name !== null && { name }),
        ...(isRecord(ptyLimits) && { limits: numbersOf(ptyLimits) }),
        logBytes: numberOrNull(head, 'logBytes', maxLogBytes) ?? limits.logBytes,
        clock,
        logger,
        onEnded: () => this.#childEnded(),
      });
    } finally {
      this.#spawning -= 1;
      this.#reconsider();
    }
    this.#sessions.set(sessionId, session);
    this.#byChannel.set(session.channel, session);
    this.#hadSession = true;
    this.#reconsider();
    this.#follow(connection, session, head);
  }

  #adopt(connection: HostConnection, head: Frame['head']): undefined {
    const session = this.#sessions.get(textOf(head, 'sessionId', maxNameCharacters * 4));
    if (!session)
      throw new CodedError<HostErrorCode>(
        'HOST_SESSION_UNKNOWN',
        'this host keeps no session of that name; ask it for its sessions',
      );
    this.#follow(connection, session, head);
  }

  /** The answer first, then what the child has written. */
  #follow(connection: HostConnection, session: HostSession, request: Frame['head']): void {
    const { head, blob } = session.attach(connection);
    connection.send({ id: request['id'], ok: head }, blob);
    session.pump();
  }

  #sessionRequest(
    connection: HostConnection,
    word: string,
    head: Frame['head'],
    body: Uint8Array,
  ): Answer {
    const known = this.#byChannel.get(numberOf(head, 'channel'));
    const session = (): HostSession => {
      if (known) return known;
      throw new CodedError<HostErrorCode>(
        'HOST_SESSION_UNKNOWN',
        'this session is gone; ask for the sessions',
      );
    };
    switch (word) {
      case 'sync':
        session().sync(numberOf(head, 'id'));
        return undefined;
      case 'taken':
        known?.taken(numberOf(head, 'offset'));
        return undefined;
      case 'write':
        if (body.length > maxWriteBytes)
          throw new CodedError<HostErrorCode>(
            'HOST_BAD_REQUEST',
            `one write has at most ${maxWriteBytes} bytes; send less`,
          );
        return session()
          .write(body, connection)
          .then((outcome) => ({ outcome }));
      case 'resize':
        session().resize(numberOf(head, 'cols'), numberOf(head, 'rows'));
        return {};
      case 'kill': {
        const signal = textOf(head, 'signal', 16);
        if (!isSignal(signal))
          throw new CodedError<HostErrorCode>('HOST_BAD_REQUEST', 'give a signal by its name');
        session().kill(signal);
        return {};
      }
      case 'close':
        return session()
          .close()
          .then(() => ({ exit: session().exit }));
      case 'forget':
        this.#forget(session());
        return {};
      case 'let-go':
        known?.detach(connection);
        return {};
      case 'metadata':
        session().metadata = textOf(head, 'metadata', maxMetadataCharacters);
        return {};
      case 'checkpoint':
        if (body.length > maxCheckpointBytes)
          throw new CodedError<HostErrorCode>(
            'HOST_BAD_REQUEST',
            `a checkpoint has at most ${maxCheckpointBytes} bytes`,
          );
        session().keep({
          offset: numberOf(head, 'offset'),
          sizeSeq: numberOf(head, 'sizeSeq'),
          // A copy: the frame may be a small part of a large read.
          blob: Uint8Array.from(body),
        });
        return {};
      default:
        throw new CodedError<HostErrorCode>(
          'HOST_UNSUPPORTED',
          'this host does not know that request; see its features',
        );
    }
  }

  #forget(session: HostSession): void {
    if (session.exit === null)
      throw new CodedError<HostErrorCode>(
        'HOST_BAD_REQUEST',
        'this session lives; close it before it is forgotten',
      );
    this.#drop(session);
    this.#reconsider();
  }

  #drop(session: HostSession): void {
    this.#sessions.delete(session.sessionId);
    this.#byChannel.delete(session.channel);
  }

  #childEnded(): void {
    const { limits, logger } = this.#options;
    const ended = this.#ended();
    for (const session of ended.slice(0, Math.max(0, ended.length - limits.maxKeptExits))) {
      logger.warn({}, 'an exit was dropped: too many wait to be fetched');
      this.#drop(session);
    }
    this.#reconsider();
  }

  /** Oldest first. */
  #ended(): readonly HostSession[] {
    return [...this.#sessions.values()]
      .filter(({ endedAtMs }) => endedAtMs !== null)
      .sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0));
  }

  /** Sets the one timer there is: to drop an old exit, or to end. */
  #reconsider(): void {
    this.#rest?.[Symbol.dispose]();
    this.#rest = null;
    if (this.#done) return;
    const { limits, clock } = this.#options;
    if (this.#sessions.size === 0 && this.#spawning === 0) {
      const waitMs = this.#hadSession ? limits.lingerMs : limits.firstSessionGraceMs;
      this.#rest = clock.setTimer(waitMs, () => this.#end());
      return;
    }
    const [oldest] = this.#ended();
    if (!oldest || this.#controller !== null) return;
    const dueMs = (oldest.endedAtMs ?? 0) + limits.keptExitMs - clock.monotonicMs();
    this.#rest = clock.setTimer(Math.max(0, dueMs), () => {
      this.#drop(oldest);
      this.#reconsider();
    });
  }

  #end(): void {
    if (this.#done) return;
    this.#done = true;
    this.#rest?.[Symbol.dispose]();
    removeClaim(this.#options.dir, this.#options.claim);
    for (const connection of this.#connections) {
      connection.send({ event: 'ending' });
      connection.end();
    }
    this.#options.onDone();
  }
}

function numbersOf(limits: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(Object.keys(limits).map((name) => [name, numberOf(limits, name)]));
}
