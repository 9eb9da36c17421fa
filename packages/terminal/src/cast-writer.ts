import { type FileHandle, open } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import { type Clock, CodedError, systemClock, type Timer } from '@ostler/runtime';
import type { CastErrorCode, CastHeader } from './cast.js';

export interface CastWriterOptions {
  readonly path: string;
  readonly header: CastHeader;
  readonly clock?: Clock;
  /** Characters waiting for the file. A recording that goes over stops there. */
  readonly maxBufferedCharacters?: number;
}

export type CastWriterState =
  | { readonly kind: 'recording' }
  | { readonly kind: 'closed' }
  /** What was written until then stands; nothing is added. */
  | {
      readonly kind: 'stopped';
      readonly reason: 'buffer_full' | 'write_failed';
      readonly cause?: unknown;
    };

const defaultMaxBufferedCharacters = 4 * 1024 * 1024;
/** What comes within this time goes to the file together: a call for each event would slow the terminal. */
const gatherMs = 25;

/**
 * Records a terminal to a new file (mode 0600). Never throws and never slows the
 * terminal once it is open: a disk that is full or too slow ends the recording, and
 * `state` says so.
 *
 * Output and input are text in a recording: a character cut by a chunk border is put
 * together again, bytes that are no UTF-8 become U+FFFD.
 */
export class CastWriter implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #clock: Clock;
  readonly #startMs: number;
  #lastMs: number;
  readonly #maxBufferedCharacters: number;
  readonly #decoders: Record<'i' | 'o', TextDecoder> = {
    i: new TextDecoder('utf-8', { ignoreBOM: true }),
    o: new TextDecoder('utf-8', { ignoreBOM: true }),
  };
  #buffered: string;
  #writing: Promise<void> | undefined;
  #gathering: Timer | undefined;
  #state: CastWriterState = { kind: 'recording' };
  #closed: Promise<void> | undefined;

  private constructor(file: FileHandle, options: CastWriterOptions) {
    this.#file = file;
    this.#clock = options.clock ?? systemClock;
    this.#startMs = this.#clock.monotonicMs();
    this.#lastMs = this.#startMs;
    this.#maxBufferedCharacters = options.maxBufferedCharacters ?? defaultMaxBufferedCharacters;
    const { timestamp = Math.floor(this.#clock.nowMs() / 1000), ...header } = options.header;
    this.#buffered = `${JSON.stringify({ version: 2, ...header, timestamp })}\n`;
    this.#flush();
  }

  /** Throws CodedError CAST_FILE_EXISTS (a recording is never written over), CAST_OPEN_FAILED. */
  static async open(options: CastWriterOptions): Promise<CastWriter> {
    let file: FileHandle;
    try {
      file = await open(options.path, 'wx', 0o600);
    } catch (failure) {
      const exists = failure instanceof Error && 'code' in failure && failure.code === 'EEXIST';
      throw new CodedError<CastErrorCode>(
        exists ? 'CAST_FILE_EXISTS' : 'CAST_OPEN_FAILED',
        exists
          ? `${options.path} exists; record to another path`
          : `cannot record to ${options.path}; check its directory`,
        { cause: failure, details: { path: options.path } },
      );
    }
    return new CastWriter(file, options);
  }

  get state(): CastWriterState {
    return this.#state;
  }

  output(data: Uint8Array): void {
    this.#text('o', data);
  }

  /** `atMs`: when its first byte left, on the clock's monotonic reading; now where it isn't known. */
  input(data: Uint8Array, atMs?: number): void {
    this.#text('i', data, atMs);
  }

  mark(label: string): void {
    this.#event('m', label);
  }

  resize(cols: number, rows: number): void {
    this.#event('r', `${cols}x${rows}`);
  }

  /** Resolves once everything recorded is in the file, or the recording has stopped. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    for (const kind of ['i', 'o'] as const) {
      const rest = this.#decoders[kind].decode();
      if (rest !== '') this.#event(kind, rest);
    }
    if (this.#state.kind === 'recording') this.#state = { kind: 'closed' };
    this.#gathering?.[Symbol.dispose]();
    this.#flush();
    while (this.#writing) await this.#writing;
    await this.#file.close();
  }

  #text(kind: 'i' | 'o', data: Uint8Array, atMs?: number): void {
    const text = this.#decoders[kind].decode(data, { stream: true });
    if (text !== '') this.#event(kind, text, atMs);
  }

  #event(kind: 'o' | 'i' | 'm' | 'r', data: string, atMs: number = Number.NaN): void {
    if (this.#state.kind !== 'recording') return;
    const nowMs = this.#clock.monotonicMs();
    // Time never goes back in a recording.
    this.#lastMs = Math.max(this.#lastMs, Number.isNaN(atMs) ? nowMs : Math.min(atMs, nowMs));
    const seconds = (this.#lastMs - this.#startMs) / 1000;
    const line = `${JSON.stringify([Number(seconds.toFixed(6)), kind, data])}\n`;
    if (this.#buffered.length + line.length > this.#maxBufferedCharacters) {
      this.#state = { kind: 'stopped', reason: 'buffer_full' };
      return;
    }
    this.#buffered += line;
    if (!this.#gathering?.active) {
      this.#gathering = this.#clock.setTimer(gatherMs, () => this.#flush());
    }
  }

  #flush(): void {
    if (this.#writing || this.#buffered === '') return;
    const text = this.#buffered;
    this.#buffered = '';
    this.#writing = this.#file.appendFile(text, 'utf8').then(
      () => {
        this.#writing = undefined;
        this.#flush();
      },
      (cause: unknown) => {
        this.#writing = undefined;
        this.#buffered = '';
        this.#state = { kind: 'stopped', reason: 'write_failed', cause };
      },
    );
  }
}
