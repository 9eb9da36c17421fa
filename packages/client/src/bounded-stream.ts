/**
 * Items for one reader, in order, with a bound on what waits. Past the bound it ends: what was
 * kept is still given, then `overflow()` is thrown. Nothing is missing in between.
 */
export class BoundedStream<Item> implements AsyncIterableIterator<Item> {
  readonly #maxSize: number;
  readonly #sizeOf: (item: Item) => number;
  readonly #overflow: () => Error;
  readonly #onEnd: () => void;
  #items: Item[] = [];
  #size = 0;
  #end: { readonly error: Error | null } | null = null;
  #waiting: {
    readonly resolve: (result: IteratorResult<Item>) => void;
    readonly reject: (error: Error) => void;
  }[] = [];

  constructor(options: {
    readonly maxSize: number;
    readonly sizeOf?: (item: Item) => number;
    readonly overflow: () => Error;
    readonly onEnd?: () => void;
  }) {
    this.#maxSize = options.maxSize;
    this.#sizeOf = options.sizeOf ?? (() => 1);
    this.#overflow = options.overflow;
    this.#onEnd = options.onEnd ?? (() => undefined);
  }

  push(item: Item): void {
    if (this.#end) return;
    const reader = this.#waiting.shift();
    if (reader) {
      reader.resolve({ done: false, value: item });
      return;
    }
    const size = this.#sizeOf(item);
    if (this.#size + size > this.#maxSize) {
      this.end(this.#overflow());
      return;
    }
    this.#items.push(item);
    this.#size += size;
  }

  /** Ends behind what waits; with an error where one is given. */
  end(error: Error | null = null): void {
    if (this.#end) return;
    this.#end = { error };
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [index, reader] of waiting.entries()) {
      if (error && index === 0) {
        this.#end = { error: null };
        reader.reject(error);
      } else reader.resolve({ done: true, value: undefined });
    }
    this.#onEnd();
  }

  next(): Promise<IteratorResult<Item>> {
    const item = this.#items.shift();
    if (item !== undefined) {
      this.#size -= this.#sizeOf(item);
      return Promise.resolve({ done: false, value: item });
    }
    if (this.#end) {
      const { error } = this.#end;
      this.#end = { error: null };
      return error ? Promise.reject(error) : Promise.resolve({ done: true, value: undefined });
    }
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<Item>> {
    this.#items = [];
    this.#size = 0;
    this.end();
    this.#end = { error: null };
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
