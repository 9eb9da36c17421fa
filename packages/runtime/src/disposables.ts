/** Owns resources and releases them in reverse order, once, whatever any of them throws. */
export class Disposables implements AsyncDisposable {
  readonly #owned: (Disposable | AsyncDisposable)[] = [];
  #disposed: Promise<void> | undefined;

  /** Hands `resource` over and returns it. */
  own<Resource extends Disposable | AsyncDisposable>(resource: Resource): Resource {
    this.#owned.push(resource);
    return resource;
  }

  /** Registers a release step that is not an object. */
  defer(release: () => void | Promise<void>): void {
    this.#owned.push({
      async [Symbol.asyncDispose]() {
        await release();
      },
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#release();
    return this.#disposed;
  }

  async #release(): Promise<void> {
    const failures: unknown[] = [];
    for (const resource of this.#owned.splice(0).reverse()) {
      try {
        if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]();
        else resource[Symbol.dispose]();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'releasing resources failed');
  }
}
