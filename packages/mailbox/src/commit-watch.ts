import { type FSWatcher, unwatchFile, watch, watchFile } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '@ostler/runtime';

/** Looked at once more even if nothing was heard: a file system may have no notifications. */
const safetyPollMs = 500;
/**
 * Looks after each event: what is written to the log is heard a moment before the commit can be
 * seen, where its writer does not set the file's time afterwards.
 */
const looksAfterMs: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128];

/** Hears of commits by other processes: changes of the database, its log and its journal. */
export class CommitWatch implements Disposable {
  readonly #clock: Clock;
  readonly #path: string;
  readonly #watcher: FSWatcher | null;
  readonly #onStat = (): void => this.#heard();
  #event = false;
  #looks = looksAfterMs.length;
  #wake: () => void = () => undefined;

  constructor(path: string, clock: Clock) {
    this.#clock = clock;
    this.#path = path;
    this.#watcher = this.#watch();
  }

  /** Resolves when it is time to look again, or after `withinMs`. Rejects with the signal's reason. */
  async next(withinMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#event) {
      this.#event = false;
      return;
    }
    const lookMs = looksAfterMs[this.#looks] ?? safetyPollMs;
    this.#looks += 1;
    await new Promise<void>((resolve, reject) => {
      const finish = (act: () => void): void => {
        timer[Symbol.dispose]();
        signal?.removeEventListener('abort', abort);
        this.#wake = () => undefined;
        act();
      };
      const abort = (): void =>
        finish(() => {
          const reason: unknown = signal?.reason;
          reject(reason instanceof Error ? reason : new Error(String(reason)));
        });
      const timer = this.#clock.setTimer(Math.min(lookMs, withinMs), () => finish(resolve));
      signal?.addEventListener('abort', abort, { once: true });
      this.#wake = () => finish(resolve);
    });
    this.#event = false;
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
    if (this.#watcher === null) unwatchFile(this.#path, this.#onStat);
  }

  /** Null where the system has no watch to give; then its times are looked at. */
  #watch(): FSWatcher | null {
    const name = basename(this.#path);
    try {
      const watcher = watch(dirname(this.#path), (_event, changed) => {
        if (changed === null || changed.startsWith(name)) this.#heard();
      });
      watcher.on('error', () => undefined);
      return watcher;
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code === undefined) throw failure;
      watchFile(this.#path, { interval: safetyPollMs }, this.#onStat);
      return null;
    }
  }

  #heard(): void {
    this.#event = true;
    this.#looks = 0;
    this.#wake();
  }
}
