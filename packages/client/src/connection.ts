import {
  type HelloRequest,
  maxFrameBytes,
  type Operation,
  type ResultOf,
  requestErrorMeanings,
  resultSchemas,
  utf8Bytes,
} from '@ostler/protocol';
import type { Clock, Ids, Timer } from '@ostler/runtime';
import { aborted, ClientError, type RequestOutcome } from './client-error.js';
import type { ClientLimits } from './limits.js';
import { adviceAfterLoss, type FieldsOf, isRead } from './operations.js';
import type { ClientTransport, ClientTransportSink, Connector } from './transport.js';

type Frame = Readonly<Record<string, unknown>>;

interface Pending {
  readonly operation: Operation;
  readonly take: (frame: Frame) => void;
  readonly fail: (code: 'CONNECTION_LOST', message: string) => void;
}

export interface ConnectionParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: ClientLimits;
  /** Every frame that is no answer, in order. */
  readonly onFrame: (connection: Connection, frame: Frame) => void;
  readonly onClosed: (connection: Connection, reason: string) => void;
}

export interface RequestOptions<Name extends Operation> {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called as the answer is read, before any frame behind it. */
  readonly onAnswer?: (result: ResultOf<Name>) => void;
}

/** One connection: frames in and out, and the requests that wait for their answers. */
export class Connection implements ClientTransportSink {
  readonly #parts: ConnectionParts;
  readonly #pending = new Map<string, Pending>();
  #transport: ClientTransport | null = null;
  #lastError: string | null = null;
  #closed = false;

  private constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** Opens a connection and says hello. Rejects with a ClientError, and leaves nothing open. */
  static async open(
    parts: ConnectionParts,
    connector: Connector,
    hello: Omit<HelloRequest, 'type' | 'requestId'>,
    onWelcome: (connection: Connection, result: ResultOf<'hello'>) => void,
    signal: AbortSignal,
  ): Promise<Connection> {
    const { maxIncomingFrameBytes, connectTimeoutMs } = parts.limits;
    const connection = new Connection(parts);
    const transport = await connector(connection, { maxIncomingFrameBytes }, signal);
    connection.#transport = transport;
    try {
      await connection.request('hello', hello, {
        timeoutMs: connectTimeoutMs,
        signal,
        onAnswer: (result) => onWelcome(connection, result),
      });
    } catch (failure) {
      connection.close();
      throw failure;
    }
    return connection;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Sends at once, in the order of calls, or rejects with `not_carried_out`. */
  request<Name extends Operation>(
    operation: Name,
    fields: FieldsOf<Name>,
    { timeoutMs, signal, onAnswer }: RequestOptions<Name>,
  ): Promise<ResultOf<Name>> {
    const { clock, ids, limits } = this.#parts;
    const lost: RequestOutcome = isRead(operation) ? 'not_carried_out' : 'unknown';
    return new Promise((resolve, reject) => {
      const refuse = (
        code: 'NOT_CONNECTED' | 'PAYLOAD_TOO_LARGE' | 'TOO_MANY_REQUESTS',
        text: string,
      ) => reject(new ClientError(code, 'not_carried_out', text));
      if (signal?.aborted) {
        reject(aborted(signal, 'not_carried_out'));
        return;
      }
      const transport = this.#transport;
      if (this.#closed || !transport) {
        refuse('NOT_CONNECTED', 'there is no connection; nothing was sent');
        return;
      }
      if (this.#pending.size >= limits.maxInFlight) {
        refuse('TOO_MANY_REQUESTS', `${limits.maxInFlight} requests wait already; await some`);
        return;
      }
      const requestId = ids.uuid();
      const text = JSON.stringify({ ...fields, type: operation, requestId });
      if (text.length > maxFrameBytes || utf8Bytes(text) > maxFrameBytes) {
        refuse('PAYLOAD_TOO_LARGE', `the request has more than ${maxFrameBytes} bytes`);
        return;
      }
      let timer: Timer | null = null;
      const done = (): void => {
        timer?.[Symbol.dispose]();
        signal?.removeEventListener('abort', abort);
        this.#pending.delete(requestId);
      };
      const abort = (): void => {
        done();
        if (signal) reject(aborted(signal, lost));
      };
      timer = clock.setTimer(timeoutMs, () => {
        done();
        const message = `${operation}: no answer in ${timeoutMs} ms; ${adviceAfterLoss(operation)}`;
        reject(new ClientError('ANSWER_TIMEOUT', lost, message));
      });
      signal?.addEventListener('abort', abort);
      this.#pending.set(requestId, {
        operation,
        fail: (code, message) => {
          done();
          reject(
            new ClientError(code, lost, `${operation}: ${message}; ${adviceAfterLoss(operation)}`),
          );
        },
        take: (frame) => {
          done();
          const failure = refusalIn(frame, lost);
          if (failure) {
            reject(failure);
            return;
          }
          const parsed = resultSchemas[operation].safeParse(frame);
          if (!parsed.success) {
            reject(
              new ClientError(
                'ANSWER_UNREADABLE',
                lost,
                `${operation}: the answer is not what the protocol says`,
                { cause: parsed.error },
              ),
            );
            return;
          }
          const result = parsed.data as ResultOf<Name>;
          onAnswer?.(result);
          resolve(result);
        },
      });
      transport.send(text);
    });
  }

  frame(text: string): void {
    if (this.#closed) return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#lastError = 'the server sent a frame that is no JSON';
      this.close();
      return;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#lastError = 'the server sent a frame that is no object';
      this.close();
      return;
    }
    const frame = value as Frame;
    const { requestId } = frame;
    const pending = typeof requestId === 'string' ? this.#pending.get(requestId) : undefined;
    if (pending) pending.take(frame);
    else if (frame['type'] === 'error') this.#lastError = messageIn(frame);
    // An answer nobody waits for any more: its call was aborted or timed out.
    else if (requestId === undefined) this.#parts.onFrame(this, frame);
  }

  closed(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    const why = this.#lastError ?? reason;
    for (const pending of [...this.#pending.values()]) {
      pending.fail('CONNECTION_LOST', `the connection was lost before the answer (${why})`);
    }
    this.#parts.onClosed(this, why);
  }

  close(): void {
    this.#transport?.close();
    this.closed('closed by this client');
  }
}

/** Codes behind which something may have been done all the same. */
const doubtful: ReadonlySet<string> = new Set(['INTERNAL']);

function refusalIn(frame: Frame, lost: RequestOutcome): ClientError | null {
  const { error } = frame;
  if (error === undefined) return null;
  const { code, detail, message } = (error ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string') {
    return new ClientError('ANSWER_UNREADABLE', lost, 'the server refused without a code');
  }
  const isKnown = Object.hasOwn(requestErrorMeanings, code) && !doubtful.has(code);
  const details = typeof detail === 'string' ? { detail } : {};
  const text = typeof message === 'string' ? message : code;
  return new ClientError(code, isKnown ? 'not_carried_out' : lost, text, { details });
}

function messageIn({ error }: Frame): string {
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  return `${String(code)}: ${String(message)}`.slice(0, 256);
}
