import type { Socket } from 'node:net';
import { type Clock, CodedError, isCoded, type Logger, type Timer } from '@ostler/runtime';
import {
  encodeFrame,
  type Frame,
  FrameReader,
  maxFrameBytes,
  maxGreetingBytes,
  messageKind,
} from './frame.js';
import type { OutputSink } from './host-session.js';
import { maxBacklogBytes, strangerMs } from './host-limits.js';

/** What a connection may do. */
export type ConnectionRole = 'stranger' | 'observer' | 'controller' | 'superseded';

export interface ConnectionHandler {
  /** Answers by its return, or throws a CodedError; undefined is answered elsewhere, or not at all. */
  request(
    connection: HostConnection,
    frame: Frame,
  ): Promise<object | undefined> | object | undefined;
  /** There is room for output again. */
  room(connection: HostConnection): void;
  closed(connection: HostConnection): void;
}

/** One connection to the host: frames in, frames out, never more waiting than its limit. */
export class HostConnection implements OutputSink {
  role: ConnectionRole = 'stranger';
  readonly #socket: Socket;
  readonly #handler: ConnectionHandler;
  readonly #logger: Logger;
  readonly #reader = new FrameReader(maxGreetingBytes);
  readonly #greeting: Timer;

  constructor(socket: Socket, handler: ConnectionHandler, clock: Clock, logger: Logger) {
    this.#socket = socket;
    this.#handler = handler;
    this.#logger = logger;
    this.#greeting = clock.setTimer(strangerMs, () => this.end());
    socket.on('data', (chunk: Buffer) => this.#data(chunk));
    socket.on('drain', () => {
      socket.resume();
      handler.room(this);
    });
    socket.on('error', (failure: Error) =>
      logger.info({ reason: failure.message }, 'a connection broke'),
    );
    socket.on('close', () => {
      this.#greeting[Symbol.dispose]();
      handler.closed(this);
    });
  }

  get current(): boolean {
    return this.role === 'controller' && !this.#socket.destroyed;
  }

  get hasRoom(): boolean {
    return this.#socket.writableLength < maxBacklogBytes;
  }

  admit(role: 'observer' | 'controller'): void {
    this.role = role;
    this.#reader.maxBytes = maxFrameBytes;
    this.#greeting[Symbol.dispose]();
  }

  send(head: object, body?: Uint8Array): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    this.#socket.write(encodeFrame(head, body));
    // Whoever asks and doesn't read the answers is not asked further.
    if (!this.hasRoom) this.#socket.pause();
  }

  /** Ends behind what was sent; a peer that doesn't read is cut off by its own silence or the next `end`. */
  end(): void {
    if (this.#socket.writableEnded) this.#socket.destroy();
    else this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #data(chunk: Buffer): void {
    try {
      this.#reader.push(chunk, (frame) => void this.#take(frame));
    } catch (failure) {
      if (!isCoded(failure)) throw failure;
      this.#logger.warn({ code: failure.code, role: this.role }, 'a connection sent no frames');
      this.send({ event: 'refused', code: failure.code, message: failure.message });
      this.#socket.destroySoon();
    }
  }

  async #take(frame: Frame): Promise<void> {
    if (frame.kind !== messageKind) {
      this.send({ event: 'unsupported', kind: frame.kind });
      return;
    }
    const id = typeof frame.head['id'] === 'number' ? frame.head['id'] : null;
    try {
      const answer = this.#handler.request(this, frame);
      // Answered at once where it can be: order is kept, and a look is not kept waiting.
      const ok = answer instanceof Promise ? await answer : answer;
      if (ok !== undefined && id !== null) this.send({ id, ok });
    } catch (failure) {
      const coded = isCoded(failure)
        ? failure
        : new CodedError('HOST_FAULT', 'the host failed at this request; see its log', {
            cause: failure,
          });
      if (coded !== failure)
        this.#logger.error({ failure: String(failure) }, 'a request failed unexpectedly');
      const { code, message, details } = coded;
      if (id !== null) this.send({ id, error: { code, message, details } });
    }
  }
}
