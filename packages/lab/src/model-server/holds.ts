/** Named places where the model waits until the test lets it go on. */
export class Holds {
  readonly #released = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #arrivals = new Map<string, Set<() => void>>();

  /** Opens the hold for whoever waits there and for whoever comes later. */
  release(name: string): void {
    this.#released.add(name);
    for (const resume of this.#waiting.get(name) ?? []) resume();
    this.#waiting.delete(name);
  }

  releaseAll(): void {
    for (const name of [...this.#waiting.keys()]) this.release(name);
  }

  /** Closes a released hold again. */
  rearm(name: string): void {
    this.#released.delete(name);
  }

  /** Resolves when a request stands at the hold; at once when one does already. */
  reached(name: string): Promise<void> {
    if ((this.#waiting.get(name)?.size ?? 0) > 0) return Promise.resolve();
    return new Promise((resolve) => add(this.#arrivals, name, resolve));
  }

  /** Waits at the hold; ends early when `signal` aborts. */
  async wait(name: string, signal: AbortSignal): Promise<void> {
    for (const arrived of this.#arrivals.get(name) ?? []) arrived();
    this.#arrivals.delete(name);
    if (this.#released.has(name) || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#waiting.get(name)?.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      add(this.#waiting, name, done);
    });
  }
}

function add(map: Map<string, Set<() => void>>, name: string, callback: () => void): void {
  const found = map.get(name) ?? new Set<() => void>();
  found.add(callback);
  map.set(name, found);
}
