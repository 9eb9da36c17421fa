import fs from 'node:fs';
import type { Clock, Timer } from '@ostler/runtime';

/** A file event may get lost, and a directory may come later: every so often one looks without. */
const safetyPollMs = 1_000;

/** Calls `onChange` when something in a directory may have changed. The directory need not exist yet. */
export class DirectoryWatch implements Disposable {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #watcher: fs.FSWatcher | null = null;
  #timer: Timer | null = null;
  #disposed = false;

  constructor(options: { directory: string; clock: Clock; onChange: () => void }) {
    this.#directory = options.directory;
    this.#clock = options.clock;
    this.#onChange = options.onChange;
    this.#watch();
    this.#arm();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#timer?.[Symbol.dispose]();
    this.#watcher?.close();
    this.#watcher = null;
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(safetyPollMs, () => {
      if (this.#disposed) return;
      this.#watch();
      this.#onChange();
      this.#arm();
    });
  }

  #watch(): void {
    if (this.#watcher || !fs.existsSync(this.#directory)) return;
    try {
      const watcher = fs.watch(this.#directory, { persistent: false }, () => this.#onChange());
      watcher.on('error', () => {
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = null;
      });
      this.#watcher = watcher;
    } catch {
      // The poll goes on without it.
      this.#watcher = null;
    }
  }
}
