import fs from 'node:fs';
import type { Clock } from '@ostler/runtime';
import { SafetyPoll } from '../safety-poll.js';

/** A file event may get lost, and a directory may come later: while something happens one looks without. */
const safetyPollMs = 1_000;

/** Calls `onChange` when something in a directory may have changed. The directory need not exist yet. */
export class DirectoryWatch implements Disposable {
  readonly #directory: string;
  readonly #onChange: () => void;
  #watcher: fs.FSWatcher | null = null;
  readonly #poll: SafetyPoll;
  #disposed = false;

  constructor(options: { directory: string; clock: Clock; onChange: () => void }) {
    this.#directory = options.directory;
    this.#onChange = options.onChange;
    this.#watch();
    this.#poll = new SafetyPoll({
      clock: options.clock,
      intervalMs: safetyPollMs,
      look: () => {
        this.#watch();
        this.#onChange();
      },
    });
  }

  /** Something happens that may show in the directory soon. */
  attend(): void {
    this.#poll.attend();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#poll[Symbol.dispose]();
    this.#watcher?.close();
    this.#watcher = null;
  }

  #watch(): void {
    if (this.#watcher || !fs.existsSync(this.#directory)) return;
    try {
      const watcher = fs.watch(this.#directory, { persistent: false }, () => {
        this.#poll.attend();
        this.#onChange();
      });
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
