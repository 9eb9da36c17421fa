import { createConnection, type Socket } from 'node:net';
import { type Clock, CodedError, type Logger, type Timer } from '@ostler/runtime';
import { encodeFrame, type Frame, FrameReader } from './frame.js';
import { isRecord } from './frame.js';
import type { HostErrorCode } from './host-errors.js';
import { socketAddress } from './host-place.js';

/** Why a connection ended. */
export type LostReason =
  /** The host has ended with its last session. */
  | 'ended'
  /** Another daemon controls the host. */
  | 'superseded'
  /** The host has died, or its connection broke. */
  | 'broken'
  /** It was ended here. */
  | 'closed';

export interface HostReply {
  readonly ok: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
}

interface Waiting {
  readonly take: (reply: HostReply) => void;
  readonly reject: (failure: unknown) => void;
  readonly timer: Timer;
}

export interface HostClientOptions {
  readonly dir: string;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Events, in the order in which they came among the replies. */
  readonly onEvent: (frame: Frame) => void;
  readonly onLost: (reason: LostReason) => void;
}

const maxWaiting = 4_096;
export const requestMs = 10_000;

/** The daemon's end of a connection: requests and their replies, and events. */
export class HostClient {
  readonly #socket: Socket;
  readonly #options: HostClientOptions;
  readonly #reader = new FrameReader();
  readonly #waiting = new Map<number, Waiting>();
  #ids = 0;
  #lost: LostReason | null = null;
  #leaving: LostReason = 'broken';

  private constructor(socket: Socket, options: HostClientOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', (chunk: Buffer) => this.#data(chunk));
    socket.on('error', (failure: Error) =>
      options.logger.info({ reason: failure.message }, 'the connection to the host broke'),
    );
    socket.on('close', () => this.#gone());
  }

  /** Throws the system's error. */
  static async connect(options: HostClientOptions): Promise<HostClient> {
    using address = socketAddress(options.dir, options.socketPath);
    const socket = createConnection(address.path);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve();
      });
    });
    return new HostClient(socket, options);
  }

  get lost(): LostReason | null {
    return this.#lost;
  }

  /** True while nothing waits here: what is sent now leaves now. */
  get isClear(): boolean {
    return this.#socket.writableLength === 0;
  }

  /** Resolves when what waits here has left, or never will. */
  cleared(): Promise<void> {
    if (this.isClear || this.#lost !== null) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#socket.off('drain', end);
        this.#socket.off('close', end);
        resolve();
      };
      this.#socket.on('drain', end);
      this.#socket.on('close', end);
    });
  }

  /**
   * Throws CodedError HOST_LOST or HOST_SILENT, after which the request is in doubt,
   * HOST_SUPERSEDED, after which it was not carried out, and what the host answers.
   */
  request(head: object, body?: Uint8Array, waitMs: number = requestMs): Promise<HostReply> {
    return this.requestThen(head, (reply) => reply, body, waitMs);
  }

  /** The same; `take` makes the result before any event that came behind the reply. */
  requestThen<Result>(
    head: object,
    take: (reply: HostReply) => Result,
    body?: Uint8Array,
    waitMs: number = requestMs,
  ): Promise<Result> {
    const lost = this.#lost ?? (this.#leaving === 'closed' ? 'closed' : null);
    if (lost !== null) return Promise.reject(lostError(lost));
    if (this.#waiting.size >= maxWaiting)
      return Promise.reject(
        new CodedError<HostErrorCode>(
          'HOST_TOO_MANY',
          `${maxWaiting} requests wait for the host; wait for one of them`,
        ),
      );
    this.#ids += 1;
    const id = this.#ids;
    return new Promise((resolve, reject) => {
      const frame = encodeFrame({ id, ...head }, body);
      const timer = this.#options.clock.setTimer(waitMs, () => {
        this.#waiting.delete(id);
        reject(
          new CodedError<HostErrorCode>(
            'HOST_SILENT',
            `the host did not answer within ${waitMs} ms; it is stopped, or its machine is`,
          ),
        );
      });
      this.#waiting.set(id, {
        take: (reply) => {
          try {
            resolve(take(reply));
          } catch (failure) {
            reject(failure instanceof Error ? failure : new Error(String(failure)));
          }
        },
        reject,
        timer,
      });
      this.#socket.write(frame);
    });
  }

  /** Sends what has no answer. */
  tell(head: object): void {
    if (this.#lost === null && this.#leaving !== 'closed') this.#socket.write(encodeFrame(head));
  }

  /** Goes away: the host keeps what it has. */
  end(): Promise<void> {
    if (this.#lost === null) this.#leaving = 'closed';
    return new Promise((resolve) => {
      if (this.#socket.closed) resolve();
      else {
        this.#socket.once('close', () => resolve());
        this.#socket.destroySoon();
      }
    });
  }

  #data(chunk: Buffer): void {
    try {
      this.#reader.push(chunk, (frame) => this.#take(frame));
    } catch (failure) {
      this.#options.logger.error({ failure: String(failure) }, 'the host sent what is no frame');
      this.#socket.destroy();
    }
  }

  #take(frame: Frame): void {
    const { head } = frame;
    if (typeof head['event'] === 'string') {
      if (head['event'] === 'superseded') this.#leaving = 'superseded';
      else if (head['event'] === 'ending') this.#leaving = 'ended';
      else this.#options.onEvent(frame);
      // From here on nothing is carried out, and nothing may look as if it were.
      if (this.#leaving === 'superseded') this.#gone();
      return;
    }
    const id = head['id'];
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (typeof id !== 'number' || !waiting) return;
    this.#waiting.delete(id);
    waiting.timer[Symbol.dispose]();
    if (isRecord(head['ok'])) waiting.take({ ok: head['ok'], body: frame.body });
    else waiting.reject(errorFrom(head['error']));
  }

  #gone(): void {
    if (this.#lost !== null) return;
    this.#lost = this.#leaving;
    this.#socket.destroySoon();
    const failure = lostError(this.#lost);
    for (const { reject, timer } of this.#waiting.values()) {
      timer[Symbol.dispose]();
      reject(failure);
    }
    this.#waiting.clear();
    this.#options.onLost(this.#lost);
  }
}

export function lostError(reason: LostReason): CodedError<HostErrorCode> {
  return reason === 'superseded'
    ? new CodedError<HostErrorCode>(
        'HOST_SUPERSEDED',
        'another daemon controls this host now; this one must let go of it',
      )
    : new CodedError<HostErrorCode>(
        'HOST_LOST',
        'the connection to the host has ended; connect again and adopt what it keeps',
        { details: { reason } },
      );
}

function errorFrom(error: unknown): CodedError {
  if (!isRecord(error) || typeof error['code'] !== 'string')
    return new CodedError<HostErrorCode>('HOST_FRAME_BAD', 'the host answered without sense');
  const { code, message, details } = error;
  return new CodedError(code, typeof message === 'string' ? message : code, {
    ...(isRecord(details) && { details }),
  });
}
