import { EventEmitter } from 'eventemitter3';

/** A typed emitter: `Events` maps each event's name to the one value it carries. */
export class Emitter<Events extends object> {
  readonly #inner: EventEmitter = new EventEmitter();

  /** Calls `listener` at every `name` until the returned subscription is disposed. */
  on<Name extends keyof Events & string>(
    name: Name,
    listener: (value: Events[Name]) => void,
  ): Disposable {
    this.#inner.on(name, listener);
    return { [Symbol.dispose]: () => void this.#inner.off(name, listener) };
  }

  emit<Name extends keyof Events & string>(name: Name, value: Events[Name]): void {
    this.#inner.emit(name, value);
  }

  /** Drops every listener. */
  clear(): void {
    this.#inner.removeAllListeners();
  }
}
