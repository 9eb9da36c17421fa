import { existsSync, readFileSync, watch } from 'node:fs';
import path from 'node:path';
import type { Clock, Logger } from '@ostler/runtime';

/** Follows a JSONL file; stands in until the engines' own is exported. */
export class RecordTail implements AsyncDisposable {
  readonly #stop: () => void;

  constructor(options: {
    path: string;
    from: 'start';
    clock: Clock;
    logger: Logger;
    onRecord: (line: { value: unknown }) => void;
  }) {
    let seen = 0;
    const read = (): void => {
      if (!existsSync(options.path)) return;
      const text = readFileSync(options.path, 'utf8');
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      const fresh = whole.slice(seen);
      seen = whole.length;
      for (const line of fresh.split('\n')) {
        if (line !== '') options.onRecord({ value: JSON.parse(line) });
      }
    };
    const watcher = watch(path.dirname(options.path), { persistent: false }, read);
    this.#stop = () => watcher.close();
    queueMicrotask(read);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
  }
}
