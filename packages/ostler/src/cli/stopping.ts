const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Takes the signals that ask this process to stop, from its making to its disposal. */
export class Stopping implements Disposable {
  readonly asked: Promise<void>;
  readonly askedAgain: Promise<void>;
  readonly #take: () => void;

  constructor() {
    let count = 0;
    let resolveFirst = (): void => undefined;
    let resolveSecond = (): void => undefined;
    this.asked = new Promise((resolve) => (resolveFirst = resolve));
    this.askedAgain = new Promise((resolve) => (resolveSecond = resolve));
    this.#take = () => {
      count += 1;
      if (count === 1) resolveFirst();
      else resolveSecond();
    };
    for (const signal of signals) process.on(signal, this.#take);
  }

  [Symbol.dispose](): void {
    for (const signal of signals) process.off(signal, this.#take);
  }
}
