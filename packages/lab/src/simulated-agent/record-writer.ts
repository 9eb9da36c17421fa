import type { Clock } from '@ostler/runtime';
import type { RecordKind, RecordOptions } from './script.js';

/** One line of the session record. */
export interface RecordEntry {
  readonly type: RecordKind;
  readonly at: number;
  readonly id?: string;
  readonly turn?: string;
  readonly text?: string | null;
  readonly outcome?: 'completed' | 'failed' | 'cancelled';
  readonly inputs?: readonly string[];
  readonly path?: string;
}

/** Where lines go. */
export interface RecordFile {
  append(path: string, data: string): void;
}

/** Writes the session record, well or badly, as the script says. */
export class RecordWriter {
  readonly #options: RecordOptions;
  readonly #clock: Clock;
  readonly #file: RecordFile;
  readonly #basePath: string;
  #path: string;
  #lines = 0;
  #files = 1;
  #held: string | null = null;
  /** Split lines wait for their second half; later ones wait behind them. */
  #waiting: string[] = [];
  #splitting = false;

  constructor(options: RecordOptions, path: string, clock: Clock, file: RecordFile) {
    this.#options = options;
    this.#basePath = path;
    this.#path = path;
    this.#clock = clock;
    this.#file = file;
  }

  write(entry: RecordEntry): void {
    if (!this.#options.write || this.#options.omit.includes(entry.type)) return;
    const line = `${JSON.stringify(entry)}\n`;
    if (this.#options.delayMs === 0) this.#order(line);
    else this.#clock.setTimer(this.#options.delayMs, () => this.#order(line));
  }

  /** Points to a new file and goes on there. */
  rotate(): void {
    if (!this.#options.write) return;
    this.#files += 1;
    const next = this.#basePath.replace(/(\.jsonl)?$/, `.${this.#files}.jsonl`);
    const pointer: RecordEntry = { type: 'rotated', at: this.#clock.nowMs(), path: next };
    if (!this.#options.omit.includes('rotated')) this.#emit(`${JSON.stringify(pointer)}\n`);
    this.#path = next;
    this.#lines = 0;
  }

  /** Writes what is still held back. */
  flush(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#emit(held);
  }

  #order(line: string): void {
    if (!this.#options.outOfOrder) return this.#emit(line);
    const held = this.#held;
    if (held === null) {
      this.#held = line;
      return;
    }
    this.#held = null;
    this.#emit(line);
    this.#emit(held);
  }

  #emit(line: string): void {
    const { rotateAfter } = this.#options;
    if (rotateAfter !== null && this.#lines >= rotateAfter && !line.includes('"rotated"')) {
      this.rotate();
    }
    this.#lines += 1;
    if (this.#options.splitMs === null) this.#file.append(this.#path, line);
    else {
      this.#waiting.push(`${this.#path}\n${line}`);
      this.#split();
    }
  }

  #split(): void {
    const next = this.#splitting ? undefined : this.#waiting.shift();
    if (next === undefined) return;
    this.#splitting = true;
    const at = next.indexOf('\n');
    const path = next.slice(0, at);
    const line = next.slice(at + 1);
    const half = Math.floor(line.length / 2);
    this.#file.append(path, line.slice(0, half));
    this.#clock.setTimer(this.#options.splitMs ?? 0, () => {
      this.#file.append(path, line.slice(half));
      this.#splitting = false;
      this.#split();
    });
  }
}
