import { setMaxListeners } from 'node:events';
import {
  type HelloRequest,
  type Operation,
  type OstlerEvent,
  type OstlerRequest,
  parseRequest,
  protocolVersion,
  type RequestErrorCode,
  requestErrorMeanings,
} from '@ostler/protocol';
import { type Clock, CodedError, type Logger, type Timer } from '@ostler/runtime';
import type { ReplayResult, StoredEvent } from '@ostler/store';
import type { Caller, DaemonParts } from './caller.js';
import { localDevice } from './devices.js';
import { eventFor, knownCapabilities, type View } from './event-view.js';
import type { DaemonLimits } from './limits.js';
import type { Transport, TransportSink } from './listeners/transport.js';
import { localOperations, operations, remoteOperations } from './operations/table.js';
import { Outbox } from './outbox.js';
import { RateQuota } from './quota.js';
import type { Subscriptions } from './subscriptions.js';
import type { TokenGuard } from './token-guard.js';
import { wireError } from './wire-error.js';

/** What every connection shares. */
export interface ConnectionParts extends DaemonParts {
  readonly tokenGuard: TokenGuard;
  readonly limits: DaemonLimits;
  /** Those of the machine's own user. */
  readonly localLimits: Pick<DaemonLimits, 'rateBurst' | 'ratePerSecond' | 'maxInFlight'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly replay: (
    cursor: { readonly serverInstanceId: string; readonly eventId: number },
    deviceId: string,
  ) => ReplayResult;
  readonly resultsOf: (deviceId: string) => readonly StoredEvent[];
  readonly cursor: () => number;
  readonly ownerOf: (deliveryId: string) => string | null;
  readonly subscriptions: (tell: (message: object) => void) => Subscriptions;
  /** Resolves once the agents that ran before are there to be asked about; null from then on. */
  readonly adopting: () => Promise<void> | null;
  readonly onClosed: (connection: Connection) => void;
}

/** A person's keys are bounded by what may be held back, not by a rate. */
const unrationed: ReadonlySet<string> = new Set(['agent.input', 'agent.size', 'agent.detach']);
/** Answered while the agents of the daemon before are still being taken over. */
const withoutAgents: ReadonlySet<string> = new Set([
  'receipt.get',
  'receipt.wait',
  'receipts.list',
  'device.add',
  'device.list',
  'device.revoke',
  'pair.revoke',
]);

/** One peer: its hello, what it may ask for and how fast, and what it is told. */
export class Connection implements Caller, TransportSink {
  readonly #parts: ConnectionParts;
  readonly #transport: Transport;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #helloTimer: Timer;
  readonly #gone = new AbortController();
  #quota: RateQuota;
  #view: View | null = null;
  #maxInFlight: number;
  #inFlight = 0;
  #closed = false;

  constructor(parts: ConnectionParts, transport: Transport) {
    this.#parts = parts;
    this.#transport = transport;
    const { clock, limits } = parts;
    // Waits and views listen to it: as many as there may be of them.
    setMaxListeners(0, this.#gone.signal);
    this.#outbox = new Outbox({
      transport,
      maxUnsentBytes: limits.maxUnsentBytes,
      pauseAtUnsentBytes: limits.pauseAtUnsentBytes,
      onOverrun: () => {
        parts.metrics.add('slow_consumers');
        this.#end('slow_consumer');
      },
    });
    this.#subscriptions = parts.subscriptions((message) => this.#outbox.tell(message));
    this.#quota = new RateQuota(clock, limits.rateBurst, limits.ratePerSecond);
    this.#maxInFlight = limits.maxInFlight;
    this.#helloTimer = clock.setTimer(limits.helloDeadlineMs, () => this.#end('no_hello'));
  }

  /** Null before the hello. */
  get deviceId(): string | null {
    return this.#view?.deviceId ?? null;
  }

  /** Aborted when the peer has gone: nobody waits for the answers any more. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  get outbox(): Outbox {
    return this.#outbox;
  }

  get transport(): Transport {
    return this.#transport;
  }

  get subscriptions(): Subscriptions {
    return this.#subscriptions;
  }

  get parts(): ConnectionParts {
    return this.#parts;
  }

  /** Throws where there was no hello. */
  get view(): View {
    if (!this.#view) throw new TypeError('no hello has been taken yet');
    return this.#view;
  }

  tell({
    deviceId,
    event,
  }: {
    readonly event: OstlerEvent;
    readonly deviceId: string | null;
  }): void {
    if (!this.#view || this.#closed) return;
    const seen = eventFor(this.#view, event, deviceId);
    if (seen) this.#outbox.tell(seen);
  }

  /** The device's pairing ended. */
  revoke(): void {
    this.#end('revoked');
  }

  /** Ends the connection, behind what was sent. */
  end(reason: string): void {
    this.#end(reason);
  }

  frame(text: string): void {
    if (this.#closed) return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#parts.metrics.add('broken_frames');
      this.#refuseFrame('INVALID_REQUEST', 'a frame is one JSON object');
      return;
    }
    const { requestId, type } = labelsOf(value);
    if (type === 'hello' && requestId !== null) {
      this.#hello(value as Readonly<Record<string, unknown>>, requestId);
    } else if (requestId === null || type === null) {
      const parsed = parseRequest(value);
      const { message } = parsed.kind === 'refused' ? parsed.error : { message: '' };
      this.#refuseFrame('INVALID_REQUEST', message, requestId);
    } else if (!this.#view) {
      this.#refuse(type, requestId, 'HELLO_REQUIRED');
    } else if (this.#mayAsk(type, requestId)) {
      void this.#serve(this.#view, value, type, requestId);
    }
  }

  broken(reason: 'too_large' | 'not_utf8'): void {
    this.#parts.metrics.add('broken_frames');
    if (reason === 'too_large') {
      this.#sendError(null, 'PAYLOAD_TOO_LARGE', 'the frame is larger than 65,536 bytes');
    } else {
      this.#sendError(null, 'INVALID_REQUEST', 'a frame is UTF-8 text');
    }
    this.#end(reason);
  }

  closed(): void {
    this.#end('closed');
  }

  #hello(value: Readonly<Record<string, unknown>>, requestId: string): void {
    const again = this.#view !== null;
    if (again && !this.#quota.take()) {
      this.#parts.metrics.add('rate_limited');
      this.#refuse('hello', requestId, 'RATE_LIMITED');
      return;
    }
    const { proto } = value;
    if (typeof proto === 'number' && proto !== protocolVersion) {
      this.#refuse('hello', requestId, 'PROTO_UNSUPPORTED');
      return;
    }
    const parsed = parseRequest(value, { operations: ['hello'] });
    if (parsed.kind === 'refused') {
      this.#refuse('hello', requestId, parsed.error.code, parsed.error.message);
      return;
    }
    const hello = parsed.request as HelloRequest;
    const deviceId = this.#identify(hello, requestId);
    if (deviceId === null) return;
    if (again && deviceId !== this.deviceId) {
      this.#refuse('hello', requestId, 'UNAUTHENTICATED', 'a connection keeps its device');
      this.#end('unauthenticated');
      return;
    }
    this.#welcome(hello, deviceId, again);
  }

  #identify(hello: HelloRequest, requestId: string): string | null {
    const { devices, logger, metrics, tokenGuard } = this.#parts;
    const { address, bearer, kind } = this.#transport;
    const token = hello.token ?? bearer;
    if (token === null && kind === 'unix') return localDevice;
    const identity = token === null ? { kind: 'unknown' as const } : devices.identify(token);
    if (identity.kind === 'device') return identity.deviceId;
    if (identity.kind === 'revoked') {
      this.#refuse('hello', requestId, 'REVOKED');
      this.#end('revoked');
      return null;
    }
    if (token !== null) {
      tokenGuard.failed(address);
      metrics.add('wrong_tokens');
      logger.warn({ address }, 'a token was nobody’s');
    }
    this.#refuse('hello', requestId, 'UNAUTHENTICATED');
    this.#end('unauthenticated');
    return null;
  }

  #welcome(hello: HelloRequest, deviceId: string, again: boolean): void {
    const { clock, limits, localLimits, service } = this.#parts;
    this.#helloTimer[Symbol.dispose]();
    const asked = new Set(hello.capabilities ?? []);
    const capabilities = knownCapabilities.filter((name) => asked.has(name));
    this.#view = {
      deviceId,
      capabilities: new Set(capabilities),
      ownerOf: this.#parts.ownerOf,
    };
    if (!again && deviceId === localDevice) {
      this.#quota = new RateQuota(clock, localLimits.rateBurst, localLimits.ratePerSecond);
      this.#maxInFlight = localLimits.maxInFlight;
    } else if (deviceId !== localDevice) {
      this.#maxInFlight = limits.maxInFlight;
    }
    const { resume } = hello;
    const replayed = resume
      ? this.#parts.replay(
          { serverInstanceId: resume.serverInstanceId, eventId: resume.cursor },
          deviceId,
        )
      : null;
    const cursor = this.#parts.cursor();
    const { machineId, serverInstanceId } = service;
    this.#answer('hello', hello.requestId, {
      proto: protocolVersion,
      machineId,
      serverInstanceId,
      capabilities,
      resumed: replayed?.kind === 'events',
      cursor,
    });
    if (!replayed) return;
    if (replayed.kind === 'resync') {
      this.#outbox.tell({ type: 'resync', reason: replayed.reason, serverInstanceId, cursor });
      this.#sendAgain(this.#parts.resultsOf(deviceId));
    } else {
      this.#sendAgain(replayed.events);
    }
  }

  #sendAgain(events: readonly StoredEvent[]): void {
    const { view } = this;
    const seen = events.flatMap(({ deviceId, event }) => eventFor(view, event, deviceId) ?? []);
    this.#outbox.replay(seen);
  }

  #mayAsk(type: string, requestId: string): boolean {
    if (unrationed.has(type)) return true;
    if (!this.#quota.take()) {
      this.#parts.metrics.add('rate_limited');
      this.#refuse(type, requestId, 'RATE_LIMITED');
      return false;
    }
    if (this.#inFlight >= this.#maxInFlight) {
      this.#refuse(type, requestId, 'BACKPRESSURE', `${this.#maxInFlight} requests wait already`);
      return false;
    }
    return true;
  }

  async #serve(view: View, value: unknown, type: string, requestId: string): Promise<void> {
    const { logger, metrics, service } = this.#parts;
    const { machineId } = service;
    const allowed = view.deviceId === localDevice ? localOperations : remoteOperations;
    const parsed = parseRequest(value, { machineId, operations: allowed });
    if (parsed.kind === 'refused') {
      this.#refuse(type, requestId, parsed.error.code, parsed.error.message);
      return;
    }
    const { request } = parsed;
    this.#inFlight += 1;
    try {
      const adopting = withoutAgents.has(type) ? null : this.#parts.adopting();
      if (adopting) await adopting;
      if (this.#closed) return;
      const result = this.#call(request);
      this.#answer(type, requestId, isPromise(result) ? await result : result);
      metrics.add('requests');
    } catch (failure) {
      if (this.#closed) return;
      const { code, detail, message } = wireError(failure);
      if (code === 'INTERNAL') logger.error({ type, failure }, 'a request failed');
      this.#refuse(type, requestId, code, message, detail);
    } finally {
      this.#inFlight -= 1;
    }
  }

  #call(request: OstlerRequest): object | Promise<object> {
    const operation = operations[request.type as Exclude<Operation, 'hello'>] as (
      caller: Caller,
      request: OstlerRequest,
    ) => object | Promise<object>;
    return operation(this, request);
  }

  #answer(type: string, requestId: string, result: object): void {
    if (this.#outbox.answer({ type: `${type}_result`, requestId, ...result })) return;
    this.#refuse(type, requestId, 'PAYLOAD_TOO_LARGE', 'the answer is larger than a frame');
  }

  #refuse(
    type: string,
    requestId: string,
    code: RequestErrorCode,
    message: string = requestErrorMeanings[code],
    detail?: string,
  ): void {
    this.#parts.metrics.add('requests_refused');
    const error = { code, message, ...(detail === undefined ? {} : { detail }) };
    this.#outbox.answer({ type: `${type.slice(0, 64)}_result`, requestId, error });
  }

  /** A frame that can't be answered by name still costs its sender. */
  #refuseFrame(code: RequestErrorCode, message: string, requestId: string | null = null): void {
    if (this.#quota.take()) this.#sendError(requestId, code, message);
    else {
      this.#parts.metrics.add('rate_limited');
      this.#sendError(requestId, 'RATE_LIMITED', requestErrorMeanings.RATE_LIMITED);
    }
  }

  #sendError(requestId: string | null, code: RequestErrorCode, message: string): void {
    this.#parts.metrics.add('requests_refused');
    this.#outbox.answer({ type: 'error', requestId, error: { code, message } });
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    const { address } = this.#transport;
    this.#parts.logger.debug({ address, deviceId: this.deviceId, reason }, 'a connection ended');
    if (reason === 'slow_consumer') {
      this.#parts.logger.warn({ address, deviceId: this.deviceId }, 'a peer read too slowly');
    }
    this.#helloTimer[Symbol.dispose]();
    this.#subscriptions[Symbol.dispose]();
    this.#outbox.end();
    this.#gone.abort(new CodedError('CONNECTION_CLOSED', 'the connection ended'));
    if (reason !== 'closed') this.#transport.close(reason);
    this.#parts.onClosed(this);
  }
}

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** What an answer needs of a request, however wrong the rest of it is. */
function labelsOf(value: unknown): {
  readonly requestId: string | null;
  readonly type: string | null;
} {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { requestId: null, type: null };
  }
  const { requestId, type } = value as { requestId?: unknown; type?: unknown };
  return {
    requestId: typeof requestId === 'string' && uuidV4.test(requestId) ? requestId : null,
    type: typeof type === 'string' ? type : null,
  };
}

const isPromise = (value: object | Promise<object>): value is Promise<object> =>
  value instanceof Promise;
