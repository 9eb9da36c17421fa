import { closeSync, existsSync, openSync, readSync, watch } from 'node:fs';
import path from 'node:path';
import type { Logger } from '@ostler/runtime';

const chunkBytes = 64 * 1024;
const maxLineBytes = 4 * 1024 * 1024;
const lineFeed = 0x0a;

/**
 * Hands on each whole line of a JSONL file that only ever grows, in order, as it is
 * written. The file need not exist yet; its directory must.
 */
export class RecordLines implements Disposable {
  readonly #file: string;
  readonly #onLine: (value: unknown) => void;
  readonly #logger: Logger;
  readonly #stop: () => void;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);
  #open = true;

  constructor(file: string, logger: Logger, onLine: (value: unknown) => void) {
    this.#file = file;
    this.#logger = logger;
    this.#onLine = onLine;
    const watcher = watch(path.dirname(file), { persistent: false }, () => this.#read());
    watcher.on('error', (failure) =>
      logger.warn({ failure: String(failure) }, 'the record is no longer watched'),
    );
    this.#stop = () => watcher.close();
    queueMicrotask(() => this.#read());
  }

  [Symbol.dispose](): void {
    this.#open = false;
    this.#stop();
  }

  #read(): void {
    if (!this.#open || !existsSync(this.#file)) return;
    const descriptor = openSync(this.#file, 'r');
    try {
      const chunk = Buffer.alloc(chunkBytes);
      for (;;) {
        const count = readSync(descriptor, chunk, 0, chunkBytes, this.#offset);
        if (count === 0) return;
        this.#offset += count;
        this.#take(chunk.subarray(0, count));
      }
    } finally {
      closeSync(descriptor);
    }
  }

  #take(bytes: Buffer): void {
    let rest = Buffer.concat([this.#rest, bytes]);
    for (let at = rest.indexOf(lineFeed); at >= 0; at = rest.indexOf(lineFeed)) {
      const line = rest.subarray(0, at).toString('utf8');
      rest = rest.subarray(at + 1);
      if (line !== '') this.#tell(line);
    }
    this.#rest = rest.length > maxLineBytes ? Buffer.alloc(0) : rest;
  }

  #tell(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#logger.warn({ characters: line.length }, 'a line of the record is not JSON');
      return;
    }
    this.#onLine(value);
  }
}
