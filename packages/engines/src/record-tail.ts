import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import path from 'node:path';
import { type Clock, type Logger, silentLogger } from '@ostler/runtime';
import { SafetyPoll } from './safety-poll.js';

/** Where following begins. `end` is the end of what exists now; a file that doesn't exist yet is read whole. */
export type RecordStart = 'start' | 'end' | { readonly offset: number };

export interface RecordLine {
  readonly value: unknown;
  /** Offset of the line's first byte in its file. */
  readonly offset: number;
}

export type RecordReset = 'truncated' | 'replaced' | 'rewritten';

export interface RecordTailLimits {
  /** A file event may get lost; while something happens the file is looked at without one, this often. */
  readonly safetyPollMs: number;
  /** Longer lines are skipped and counted. */
  readonly maxLineBytes: number;
  readonly readChunkBytes: number;
  /** A file that appears in place of another is read from its start up to this size, else from its end. */
  readonly maxReplayBytes: number;
}

export const recordTailLimits: RecordTailLimits = {
  safetyPollMs: 2_000,
  maxLineBytes: 4 * 1024 * 1024,
  readChunkBytes: 64 * 1024,
  maxReplayBytes: 32 * 1024 * 1024,
};

export interface RecordTailOptions {
  readonly path: string;
  readonly from: RecordStart;
  readonly clock: Clock;
  readonly onRecord: (line: RecordLine) => void;
  /** The file was cut, replaced or rewritten; lines seen before may come again. */
  readonly onReset?: (reason: RecordReset) => void;
  readonly logger?: Logger;
  readonly limits?: Partial<RecordTailLimits>;
}

export interface RecordTailCounts {
  readonly lines: number;
  /** Complete lines that aren't JSON in UTF-8. */
  readonly malformed: number;
  readonly tooLong: number;
  readonly resets: number;
  /** Directory watches that could not be set; the safety poll works on. */
  readonly watchFailures: number;
}

const LINE_FEED = 0x0a;
const ANCHOR_BYTES = 64;
const LOOK_BACK_BYTES = 64 * 1024;

/**
 * Follows a JSONL file that another process appends to. Only whole lines are
 * handed on, in order, each once per life of the file. The position is fixed
 * when the constructor returns. Disposal is idempotent and waits for a read in
 * flight; no callback runs after it.
 */
export class RecordTail implements AsyncDisposable {
  readonly path: string;
  readonly #options: RecordTailOptions;
  readonly #limits: RecordTailLimits;
  readonly #logger: Logger;
  readonly #watch: DirectoryWatch;
  readonly #poll: SafetyPoll;
  #fd: number | null = null;
  #device = 0;
  #inode = 0;
  #offset = 0;
  #lineStart = 0;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #skipping = false;
  #anchor: Buffer = Buffer.alloc(0);
  #running: Promise<void> | null = null;
  #again = false;
  #disposed = false;
  #counts = { lines: 0, malformed: 0, tooLong: 0, resets: 0 };

  constructor(options: RecordTailOptions) {
    this.#options = options;
    this.path = options.path;
    this.#limits = { ...recordTailLimits, ...options.limits };
    this.#logger = options.logger ?? silentLogger;
    this.#poll = new SafetyPoll({
      clock: options.clock,
      intervalMs: this.#limits.safetyPollMs,
      look: () => {
        this.#watch.refresh();
        this.#wake();
      },
    });
    this.#watch = new DirectoryWatch(options.path, () => {
      this.#poll.attend();
      this.#wake();
    });
    this.#startAt(options.from);
    this.#wake();
  }

  /** Bytes read so far of the present file. */
  get offset(): number {
    return this.#offset;
  }

  get counts(): RecordTailCounts {
    return { ...this.#counts, watchFailures: this.#watch.failures };
  }

  /** Something happens that may be written down soon. */
  attend(): void {
    this.#poll.attend();
  }

  /** Resolves once everything that stood in the file at the call has been handed on. */
  async catchUp(): Promise<void> {
    this.#wake();
    while (this.#running) await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#watch[Symbol.dispose]();
    this.#poll[Symbol.dispose]();
    while (this.#running) await this.#running;
    this.#close();
  }

  #wake(): void {
    if (this.#disposed) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#readOn();
      } catch (failure) {
        this.#logger.warn({ path: this.path, failure: String(failure) }, 'record not readable');
        this.#close();
      }
    } while (this.#again && !this.#disposed);
  }

  #startAt(from: RecordStart): void {
    if (!this.#open()) return;
    const size = this.#size();
    if (from === 'start') return;
    if (from === 'end') {
      this.#moveToEnd(size);
      return;
    }
    if (from.offset > size) {
      this.#reset('truncated');
      return;
    }
    this.#moveTo(from.offset);
  }

  /** The start of the line being written, so that its rest isn't taken for a line of its own. */
  #moveToEnd(size: number): void {
    const length = Math.min(size, LOOK_BACK_BYTES);
    const tail = Buffer.alloc(length);
    const read = this.#fd === null ? 0 : fs.readSync(this.#fd, tail, 0, length, size - length);
    const newline = tail.subarray(0, read).lastIndexOf(LINE_FEED);
    if (newline >= 0 || size <= LOOK_BACK_BYTES) {
      this.#moveTo(size - length + newline + 1);
    } else {
      this.#moveTo(size);
      this.#skipping = true;
    }
  }

  #moveTo(offset: number): void {
    this.#offset = offset;
    this.#lineStart = offset;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#skipping = false;
    const length = Math.min(offset, ANCHOR_BYTES);
    const anchor = Buffer.alloc(length);
    const read = this.#fd === null ? 0 : fs.readSync(this.#fd, anchor, 0, length, offset - length);
    this.#anchor = anchor.subarray(0, read);
  }

  #open(): boolean {
    try {
      this.#fd = fs.openSync(this.path, 'r');
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return false;
      this.#logger.warn({ path: this.path, failure: String(failure) }, 'record not opened');
      return false;
    }
    const stat = fs.fstatSync(this.#fd);
    this.#device = stat.dev;
    this.#inode = stat.ino;
    return true;
  }

  #close(): void {
    if (this.#fd !== null) fs.closeSync(this.#fd);
    this.#fd = null;
  }

  #size(): number {
    return this.#fd === null ? 0 : fs.fstatSync(this.#fd).size;
  }

  async #readOn(): Promise<void> {
    if (this.#fd === null) {
      const { device, inode } = { device: this.#device, inode: this.#inode };
      this.#watch.refresh();
      if (!this.#open()) return;
      if (inode === 0) this.#moveTo(0);
      else if (inode !== this.#inode || device !== this.#device) this.#reset('replaced');
    }
    await this.#readToEnd();
    if (this.#disposed || !this.#isReplaced()) return;
    // The open descriptor still shows the old file: its last lines were read above.
    this.#close();
    if (!this.#open()) return;
    this.#reset('replaced');
    await this.#readToEnd();
  }

  #isReplaced(): boolean {
    const stat = fs.statSync(this.path, { throwIfNoEntry: false });
    // A file that is gone may come back; until then the open one is kept.
    return stat !== undefined && (stat.ino !== this.#inode || stat.dev !== this.#device);
  }

  #reset(reason: RecordReset): void {
    this.#counts.resets += 1;
    this.#moveTo(0);
    const size = this.#size();
    if (size > this.#limits.maxReplayBytes) this.#moveToEnd(size);
    this.#options.onReset?.(reason);
  }

  async #readToEnd(): Promise<void> {
    if (this.#size() < this.#offset) this.#reset('truncated');
    else if (!this.#anchorStands()) this.#reset('rewritten');
    const chunk = Buffer.alloc(this.#limits.readChunkBytes);
    while (!this.#disposed && this.#fd !== null) {
      const read = await readAt(this.#fd, chunk, this.#offset);
      if (read === 0) return;
      const bytes = chunk.subarray(0, read);
      this.#take(bytes);
      this.#anchor = Buffer.from(Buffer.concat([this.#anchor, bytes]).subarray(-ANCHOR_BYTES));
    }
  }

  /** The last bytes read are still where they were. */
  #anchorStands(): boolean {
    if (this.#fd === null || this.#anchor.length === 0) return true;
    const seen = Buffer.alloc(this.#anchor.length);
    fs.readSync(this.#fd, seen, 0, seen.length, this.#offset - seen.length);
    return seen.equals(this.#anchor);
  }

  #take(bytes: Buffer): void {
    let from = 0;
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
      this.#hold(bytes.subarray(from, at));
      this.#endLine();
      from = at + 1;
      this.#lineStart = this.#offset + from;
    }
    this.#hold(bytes.subarray(from));
    this.#offset += bytes.length;
  }

  #hold(piece: Buffer): void {
    if (this.#skipping || piece.length === 0) return;
    if (this.#pieceBytes + piece.length > this.#limits.maxLineBytes) {
      this.#skipping = true;
      this.#counts.tooLong += 1;
      this.#pieces = [];
      this.#pieceBytes = 0;
      return;
    }
    this.#pieces.push(Buffer.from(piece));
    this.#pieceBytes += piece.length;
  }

  #endLine(): void {
    const skipped = this.#skipping;
    const bytes = Buffer.concat(this.#pieces);
    const text = bytes.toString('utf8');
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#skipping = false;
    if (skipped || text.trim() === '' || this.#disposed) return;
    if (!isUtf8(bytes)) {
      // Replacement characters would make another text of it.
      this.#counts.malformed += 1;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#counts.malformed += 1;
      return;
    }
    this.#counts.lines += 1;
    try {
      this.#options.onRecord({ value, offset: this.#lineStart });
    } catch (failure) {
      this.#logger.error({ path: this.path, failure: String(failure) }, 'record listener failed');
    }
  }
}

function readAt(fd: number, chunk: Buffer, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, chunk, 0, chunk.length, position, (failure, read) => {
      if (failure) reject(failure);
      else resolve(read);
    });
  });
}

/** Watches the directory of a file, or the nearest one above it that exists. */
class DirectoryWatch implements Disposable {
  readonly #file: string;
  readonly #onChange: () => void;
  #watcher: fs.FSWatcher | null = null;
  #watched: { directory: string; inode: number } | null = null;
  #disposed = false;
  failures = 0;

  constructor(file: string, onChange: () => void) {
    this.#file = file;
    this.#onChange = onChange;
    this.refresh();
  }

  /** Moves the watch down as directories appear, and renews it when they are replaced. */
  refresh(): void {
    if (this.#disposed) return;
    const target = nearestDirectory(path.dirname(this.#file));
    if (
      this.#watcher &&
      this.#watched?.directory === target.directory &&
      this.#watched.inode === target.inode
    ) {
      return;
    }
    this.#watcher?.close();
    this.#watcher = null;
    const whole = target.directory === path.dirname(this.#file);
    try {
      const watcher = fs.watch(target.directory, { persistent: false }, (_kind, name) => {
        if (whole && name !== null && name !== path.basename(this.#file)) return;
        if (!whole) this.refresh();
        this.#onChange();
      });
      watcher.on('error', () => {
        this.failures += 1;
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = null;
      });
      this.#watcher = watcher;
      this.#watched = target;
    } catch {
      this.failures += 1;
    }
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#watcher?.close();
    this.#watcher = null;
  }
}

function nearestDirectory(directory: string): { directory: string; inode: number } {
  for (let at = path.resolve(directory); ; at = path.dirname(at)) {
    const stat = fs.statSync(at, { throwIfNoEntry: false });
    if (stat?.isDirectory() || at === path.dirname(at)) {
      return { directory: at, inode: stat?.ino ?? 0 };
    }
  }
}
