import { maxInputBytes, type ResultOf, type TerminalFrame } from '@ostler/protocol';
import { isCoded } from '@ostler/runtime';
import { fromBase64, toBase64 } from './base64.js';
import { BoundedStream } from './bounded-stream.js';
import { ClientError } from './client-error.js';
import type { ClientLimits } from './limits.js';
import type { Call } from './operations.js';

export type TerminalPiece =
  | { readonly kind: 'output'; readonly data: Uint8Array }
  | { readonly kind: 'size'; readonly cols: number; readonly rows: number }
  /** This viewer was too slow: clear the terminal and paint it anew. */
  | { readonly kind: 'repaint'; readonly paint: Uint8Array }
  /** The agent has ended; the last piece. */
  | { readonly kind: 'gone'; readonly exitCode: number | null; readonly signal: number | null };

const encoder = new TextEncoder();

/**
 * A view of an agent's terminal. It belongs to one connection: where that is lost, `output` throws
 * CONNECTION_LOST, and the caller attaches again.
 */
export class TerminalAttachment implements AsyncDisposable {
  readonly attachId: string;
  /** The terminal's size when it was attached; `size` pieces tell its changes. */
  readonly cols: number;
  readonly rows: number;
  /** Bytes that paint the screen as it is on a cleared terminal; `output` goes on from there. */
  readonly paint: Uint8Array;
  readonly #call: Call;
  readonly #limits: ClientLimits;
  readonly #output: BoundedStream<TerminalPiece>;
  #writes: Promise<unknown> = Promise.resolve();
  #waitingInputBytes = 0;
  #ended = false;

  constructor(
    answer: ResultOf<'agent.attach'>,
    call: Call,
    limits: ClientLimits,
    onEnd: () => void,
  ) {
    this.attachId = answer.attachId;
    this.cols = answer.cols;
    this.rows = answer.rows;
    this.paint = fromBase64(answer.paint);
    this.#call = call;
    this.#limits = limits;
    this.#output = new BoundedStream<TerminalPiece>({
      maxSize: limits.maxBufferedTerminalBytes,
      sizeOf: bytesOf,
      overflow: () =>
        new ClientError(
          'TERMINAL_OVERFLOW',
          'not_carried_out',
          `more than ${limits.maxBufferedTerminalBytes} bytes waited for their reader; attach again`,
        ),
      onEnd: () => {
        this.#ended = true;
        onEnd();
      },
    });
  }

  /** For one reader. Ends behind `gone` and at `detach`. */
  get output(): AsyncIterableIterator<TerminalPiece> {
    return this.#output;
  }

  /**
   * A person's keys, in the order of the calls. `held`: they come out whole once a delivery has
   * ended. Rejects with BACKPRESSURE or WRITE_BACKPRESSURE where too many wait; those keys and
   * what was written behind them in the same call are not passed on.
   */
  write(data: string | Uint8Array): Promise<'passed_on' | 'held'> {
    const bytes = typeof data === 'string' ? encoder.encode(data) : data.slice();
    const { maxWaitingInputBytes } = this.#limits;
    if (this.#waitingInputBytes + bytes.length > maxWaitingInputBytes) {
      const text = `more than ${maxWaitingInputBytes} bytes of keys wait for the server`;
      return Promise.reject(new ClientError('WRITE_BACKPRESSURE', 'not_carried_out', text));
    }
    this.#waitingInputBytes += bytes.length;
    const written = this.#writes.then(() => this.#send(bytes));
    const done = (): void => {
      this.#waitingInputBytes -= bytes.length;
    };
    // The caller has the rejection; the next write starts behind it.
    this.#writes = written.then(done, done);
    return written;
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#call('agent.size', { attachId: this.attachId, cols, rows });
  }

  /** Idempotent. */
  async detach(): Promise<void> {
    if (this.#ended) return;
    this.#output.end();
    try {
      await this.#call('agent.detach', { attachId: this.attachId });
    } catch (failure) {
      if (!isGoneAnyway(failure)) throw failure;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.detach();
  }

  /** @internal */
  take(frame: TerminalFrame): void {
    switch (frame.kind) {
      case 'output':
        this.#output.push({ kind: 'output', data: fromBase64(frame.data) });
        break;
      case 'size':
        this.#output.push({ kind: 'size', cols: frame.cols, rows: frame.rows });
        break;
      case 'lost':
        this.#output.push({ kind: 'repaint', paint: fromBase64(frame.paint) });
        break;
      case 'gone':
        this.#output.push({ kind: 'gone', exitCode: frame.exitCode, signal: frame.signal });
        this.#output.end();
        break;
    }
  }

  /** @internal */
  connectionLost(reason: string): void {
    this.#output.end(
      new ClientError('CONNECTION_LOST', 'unknown', `the view is gone (${reason}); attach again`),
    );
  }

  async #send(bytes: Uint8Array): Promise<'passed_on' | 'held'> {
    let outcome: 'passed_on' | 'held' = 'passed_on';
    for (let at = 0; at < bytes.length; at += maxInputBytes) {
      if (this.#ended) {
        throw new ClientError('CONNECTION_LOST', 'not_carried_out', 'the view is gone');
      }
      const data = toBase64(bytes.subarray(at, at + maxInputBytes));
      const answer = await this.#call('agent.input', { attachId: this.attachId, data });
      outcome = answer.outcome;
    }
    return outcome;
  }
}

/** A view ends with its connection. */
function isGoneAnyway(failure: unknown): boolean {
  return (
    isCoded(failure, 'CONNECTION_LOST', 'NOT_CONNECTED', 'CLIENT_CLOSED') ||
    (isCoded(failure) && failure.details['detail'] === 'VIEW_NOT_FOUND')
  );
}

function bytesOf(piece: TerminalPiece): number {
  if (piece.kind === 'output') return piece.data.length;
  return piece.kind === 'repaint' ? piece.paint.length : 1;
}
