import { type Clock, CodedError, Emitter, isCoded, type Logger, type Timer } from '@ostler/runtime';
import { isPtySize, maxPtySize, type PtyErrorCode } from '../in-process-pty.js';
import { ProcessWatch } from '../process-identity.js';
import type {
  LostOutput,
  OutputPart,
  ProcessExit,
  ProcessIdentity,
  PtyEndpoint,
  ScreenCheckpoint,
  TerminalSize,
  WriteGate,
  WriteOutcome,
} from '../pty-endpoint.js';
import { numberOf, textOf } from './fields.js';
import type { Frame } from './frame.js';
import { type HostClient, type LostReason, lostError, requestMs } from './host-client.js';
import type { HostErrorCode } from './host-errors.js';
import { ackEveryBytes, maxWriteBytes } from './host-limits.js';
import { endOrphan } from './orphaned-child.js';
import { exitOf, outcomeOf } from './replies.js';

export interface HostedPtyOptions {
  readonly client: HostClient;
  readonly sessionId: string;
  readonly channel: number;
  readonly identity: ProcessIdentity;
  readonly cols: number;
  readonly rows: number;
  readonly sizeSeq: number;
  readonly offset: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly closeGraceMs: number;
  readonly writeStallMs: number;
  readonly onClosed: () => void;
}

interface Collector {
  readonly until: number;
  readonly parts: OutputPart[];
  readonly resolve: (parts: readonly OutputPart[]) => void;
  readonly reject: (failure: unknown) => void;
}

const maxPendingWriteBytes: number = maxWriteBytes;
const firstWatchMs = 50;
const maxWatchMs = 1_000;

/**
 * A child in a host process.
 *
 * `write` resolves `carried_out` when the host said that the kernel took every byte;
 * `ambiguous` when the connection ended, or the host was silent, after the bytes had
 * left and before it said so; `nothing_written` when nothing left, or the host refused
 * the whole. One write of a session is on its way at a time, and `mayWrite` is asked
 * right before it leaves. The host writes it whole or, from the first byte on, to its
 * end: a daemon that dies in the middle leaves no half of it.
 *
 * Disposal ends the child, like that of `InProcessPty`, and lets the host forget it.
 * `release` lets go and changes nothing: the child works on.
 */
export class HostedPty implements PtyEndpoint {
  readonly sessionId: string;
  readonly identity: ProcessIdentity;
  readonly #options: HostedPtyOptions;
  readonly #client: HostClient;
  readonly #process: ProcessWatch;
  readonly #events: Emitter<{
    data: Uint8Array;
    exit: ProcessExit;
    size: TerminalSize;
    lost: LostOutput;
  }> = new Emitter();
  #unclaimed: OutputPart[] | undefined = [];
  #cols: number;
  #rows: number;
  #sizeSeq: number;
  #offset: number;
  #told: number;
  #exit: ProcessExit | null = null;
  #exitWaits: ProcessExit | null = null;
  #collector: Collector | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #pendingBytes = 0;
  #closing: Promise<void> | undefined;
  #released = false;
  /** What was to come of the child is lost here: nothing is looked at or written any more. */
  #lost: LostReason | null = null;
  #watch: Timer | undefined;

  /** Use `PtyHost.spawn` or `PtyHost.adopt`. */
  constructor(options: HostedPtyOptions) {
    this.#options = options;
    this.#client = options.client;
    this.sessionId = options.sessionId;
    this.identity = options.identity;
    this.#process = new ProcessWatch(options.identity);
    this.#cols = options.cols;
    this.#rows = options.rows;
    this.#sizeSeq = options.sizeSeq;
    this.#offset = options.offset;
    this.#told = options.offset;
  }

  get cols(): number {
    return this.#cols;
  }

  get rows(): number {
    return this.#rows;
  }

  get exit(): ProcessExit | null {
    return this.#exit;
  }

  /** Offset, in the child's whole output, behind what the listeners were given. */
  get offset(): number {
    return this.#offset;
  }

  /** Output from before the first listener is kept for it; the host sends no more than its window. */
  onData(listener: (data: Uint8Array) => void): Disposable {
    const subscription = this.#events.on('data', listener);
    const unclaimed = this.#unclaimed;
    this.#unclaimed = undefined;
    this.#orLost(() => {
      for (const part of unclaimed ?? []) this.#hand(part);
    });
    if (this.#exitWaits) queueMicrotask(() => this.#ended());
    return subscription;
  }

  onExit(listener: (exit: ProcessExit) => void): Disposable {
    const exit = this.#exit;
    if (exit === null) return this.#events.on('exit', listener);
    let wanted = true;
    queueMicrotask(() => wanted && listener(exit));
    return {
      [Symbol.dispose]: () => {
        wanted = false;
      },
    };
  }

  onResized(listener: (size: TerminalSize) => void): Disposable {
    return this.#events.on('size', listener);
  }

  onOutputLost(listener: (lost: LostOutput) => void): Disposable {
    return this.#events.on('lost', listener);
  }

  write(data: Uint8Array, mayWrite?: WriteGate): Promise<WriteOutcome> {
    if (this.#pendingBytes + data.length > maxPendingWriteBytes)
      return Promise.resolve({ kind: 'nothing_written', reason: 'pending_limit' });
    this.#pendingBytes += data.length;
    const outcome = this.#writes.then(() => this.#write(data, mayWrite));
    this.#writes = outcome.finally(() => {
      this.#pendingBytes -= data.length;
    });
    return outcome;
  }

  /** Throws CodedError HOST_LOST, HOST_SUPERSEDED, HOST_SILENT. */
  async sync(): Promise<void> {
    if (this.#exit !== null || this.#exitWaits !== null) return;
    if (this.#lost !== null) throw lostError(this.#lost);
    await this.#client.request({ do: 'sync', channel: this.#options.channel });
  }

  /** Takes effect in the stream: `cols` and `rows` change there, and `onResized` tells it. */
  resize(cols: number, rows: number): void {
    if (!isPtySize(cols) || !isPtySize(rows))
      throw new CodedError<PtyErrorCode>(
        'PTY_BAD_SIZE',
        `a terminal has 1 to ${maxPtySize} columns and rows, not ${cols}×${rows}`,
      );
    if (this.#exit !== null || this.#closing || this.#released)
      throw new CodedError<PtyErrorCode>('PTY_CLOSED', 'the terminal is closed; start another');
    this.#ask({ do: 'resize', cols, rows });
  }

  kill(signal: NodeJS.Signals): void {
    if (this.isSameProcessAlive()) this.#ask({ do: 'kill', signal });
  }

  isSameProcessAlive(): boolean {
    return this.#exit === null && this.#process.isAlive();
  }

  checkpoint(checkpoint: ScreenCheckpoint): void {
    if (this.#released || this.#client.lost !== null) return;
    const head = { do: 'checkpoint', offset: checkpoint.offset, sizeSeq: this.#sizeSeq };
    this.#ask(head, checkpoint.blob);
  }

  /** Replaces what the host keeps beside this session. Errors as in `sync`, and HOST_BAD_REQUEST. */
  async setMetadata(metadata: string): Promise<void> {
    await this.#client.request({ do: 'metadata', channel: this.#options.channel, metadata });
  }

  async release(): Promise<void> {
    if (this.#released || this.#closing) return;
    this.#released = true;
    await this.#writes;
    if (this.#client.lost === null)
      await this.#client
        .request({ do: 'let-go', channel: this.#options.channel })
        .catch((failure: unknown) => this.#note(failure, 'let-go'));
    this.#leave();
  }

  close(): Promise<void> {
    if (this.#released) return Promise.resolve();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Takes the output up to the offset `until` before there are listeners; what follows
   * goes to them. Throws CodedError HOST_LOST, HOST_SUPERSEDED.
   */
  collect(until: number): Promise<readonly OutputPart[]> {
    return new Promise((resolve, reject) => {
      this.#collector = { until, parts: [], resolve, reject };
      this.#collected();
    });
  }

  /** An event of the host about this session. Never throws. */
  take(frame: Frame): void {
    if (this.#lost === null) this.#orLost(() => this.#event(frame));
  }

  /** The connection has ended, or what came over it could not be taken. While nobody else controls the host, the child is watched from here. */
  lost(reason: LostReason): void {
    this.#collector?.reject(lostError(reason));
    this.#collector = undefined;
    this.#lost ??= reason;
    if (this.#exit !== null || this.#released) return;
    if (reason === 'superseded' || reason === 'closed') this.#leave();
    else this.#watchAlone(firstWatchMs);
  }

  #event({ head, body }: Frame): void {
    switch (head['event']) {
      case 'output':
        this.#stream({ kind: 'output', data: body });
        break;
      case 'resized':
        this.#stream({ kind: 'size', size: this.#sizeOf(head) });
        break;
      case 'lost':
        this.#stream({
          kind: 'lost',
          lost: {
            ...this.#sizeOf(head),
            lostBytes: numberOf(head, 'lost'),
            offset: numberOf(head, 'offset'),
            modes: textOf(head, 'modes', 65_536),
          },
        });
        break;
      case 'exit':
        this.#exitWaits = exitOf(head['exit'], this.#options.clock);
        if (this.#unclaimed === undefined) this.#ended();
        break;
      default:
        this.#options.logger.warn({}, 'the host sent an event that is not known here');
    }
  }

  async #write(data: Uint8Array, mayWrite?: WriteGate): Promise<WriteOutcome> {
    if (!this.#client.isClear) await this.#client.cleared();
    if (this.#exit !== null || this.#exitWaits !== null || this.#closing || this.#released)
      return { kind: 'nothing_written', reason: 'pty_closed' };
    if (this.#lost !== null || this.#client.lost !== null)
      return { kind: 'nothing_written', reason: 'host_lost' };
    if (mayWrite?.() === false) return { kind: 'nothing_written', reason: 'stale_token' };
    try {
      const { ok } = await this.#client.request(
        { do: 'write', channel: this.#options.channel },
        data,
        this.#options.writeStallMs + requestMs,
      );
      return outcomeOf(ok);
    } catch (failure) {
      if (!isCoded(failure)) throw failure;
      if (isCoded(failure, 'HOST_LOST', 'HOST_SILENT', 'HOST_SUPERSEDED', 'HOST_FRAME_BAD'))
        return { kind: 'ambiguous', reason: failure.code.toLowerCase() };
      return { kind: 'nothing_written', reason: failure.code.toLowerCase() };
    }
  }

  /** What the listeners can't take is lost here: this session is let go of, and the host's others go on. */
  #orLost(work: () => void): void {
    try {
      work();
    } catch (failure) {
      this.#options.logger.error(
        { sessionId: this.sessionId, failure: String(failure) },
        'a session could not take what its host sent; it is let go of, and the others go on',
      );
      this.lost('broken');
    }
  }

  #stream(part: OutputPart): void {
    if (this.#collector) {
      this.#collector.parts.push(part);
      this.#hand(part);
      this.#collected();
    } else if (this.#unclaimed) this.#unclaimed.push(part);
    else this.#hand(part);
  }

  #collected(): void {
    const collector = this.#collector;
    if (!collector || this.#offset < collector.until) return;
    this.#collector = undefined;
    collector.resolve(collector.parts);
  }

  #hand(part: OutputPart): void {
    switch (part.kind) {
      case 'output':
        this.#offset += part.data.length;
        this.#events.emit('data', part.data);
        this.#tellTaken(ackEveryBytes);
        break;
      case 'size': {
        const { cols, rows } = part.size;
        this.#setSize(part.size);
        this.#events.emit('size', { cols, rows });
        break;
      }
      case 'lost':
        this.#setSize(part.lost);
        this.#offset = part.lost.offset;
        this.#events.emit('lost', part.lost);
        this.#tellTaken(0);
        break;
    }
  }

  #setSize(size: TerminalSize): void {
    this.#cols = size.cols;
    this.#rows = size.rows;
    if ('sizeSeq' in size && typeof size.sizeSeq === 'number') this.#sizeSeq = size.sizeSeq;
  }

  #sizeOf(head: Frame['head']): TerminalSize & { readonly sizeSeq: number } {
    return {
      cols: numberOf(head, 'cols'),
      rows: numberOf(head, 'rows'),
      sizeSeq: numberOf(head, 'sizeSeq'),
    };
  }

  #tellTaken(afterBytes: number): void {
    if (this.#offset - this.#told < afterBytes) return;
    this.#told = this.#offset;
    const { channel } = this.#options;
    this.#client.tell({ do: 'taken', channel, offset: this.#offset });
  }

  #ended(): void {
    if (this.#exit !== null || this.#exitWaits === null) return;
    this.#exit = this.#exitWaits;
    this.#watch?.[Symbol.dispose]();
    this.#process[Symbol.dispose]();
    this.#events.emit('exit', this.#exit);
  }

  async #close(): Promise<void> {
    const { channel, closeGraceMs } = this.#options;
    try {
      if (this.#client.lost === null) {
        const { ok } = await this.#client.request(
          { do: 'close', channel },
          undefined,
          2 * closeGraceMs + requestMs,
        );
        this.#exitWaits ??= exitOf(ok['exit'], this.#options.clock);
        this.#ended();
        await this.#client.request({ do: 'forget', channel });
      } else await this.#closeAlone();
    } catch (failure) {
      if (!isCoded(failure, 'HOST_LOST', 'HOST_SUPERSEDED')) throw failure;
      if (isCoded(failure, 'HOST_LOST')) await this.#closeAlone();
    } finally {
      this.#leave();
    }
  }

  async #closeAlone(): Promise<void> {
    if (this.#exit !== null) return;
    const { clock, closeGraceMs } = this.#options;
    await endOrphan(this.identity.pid, this.#process, clock, closeGraceMs);
  }

  #watchAlone(delayMs: number): void {
    if (this.#exit !== null || this.#released) return;
    if (!this.#process.isAlive()) {
      const { clock } = this.#options;
      this.#exitWaits ??= { exitCode: null, signal: null, atMs: clock.nowMs() };
      this.#ended();
      return;
    }
    this.#watch = this.#options.clock.setTimer(delayMs, () =>
      this.#watchAlone(Math.min(2 * delayMs, maxWatchMs)),
    );
  }

  #ask(head: object, body?: Uint8Array): void {
    const request = { ...head, channel: this.#options.channel };
    this.#client
      .request(request, body)
      .catch((failure: unknown) => this.#note(failure, 'do' in head ? head.do : null));
  }

  #note(failure: unknown, request: unknown): void {
    const code: unknown = isCoded(failure) ? failure.code : String(failure);
    const lost: readonly HostErrorCode[] = ['HOST_LOST', 'HOST_SUPERSEDED'];
    if (isCoded(failure, ...lost))
      this.#options.logger.debug({ request, code }, 'the host is lost');
    else this.#options.logger.warn({ request, code }, 'the host refused a request');
  }

  #leave(): void {
    this.#released = true;
    this.#watch?.[Symbol.dispose]();
    this.#process[Symbol.dispose]();
    this.#events.clear();
    this.#options.onClosed();
  }
}
