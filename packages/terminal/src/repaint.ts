import type { Clock, Timer } from '@ostler/runtime';

export interface RepaintOptions {
  readonly clock: Clock;
  /** Asks the program for a size. */
  readonly resize: (cols: number, rows: number) => void;
  readonly size: () => { readonly cols: number; readonly rows: number };
  /** Called once, when the program has painted. */
  readonly onPainted: () => void;
}

/** Without output for so long after a paint the program has painted. */
const quietMs = 200;
/** A program that never pauses has painted everything by then. */
const paintMs = 3_000;
/** The size is changed back when the program has not painted the other one by then. */
const turnMs = 1_000;

/**
 * Makes a program paint its whole screen: one row less, and back. It counts as painted
 * when it wrote after the second change and then paused. A program that writes nothing
 * hasn't painted: it is waited for, without end, by nothing that runs.
 */
export class Repaint implements Disposable {
  readonly #options: RepaintOptions;
  readonly #wanted: { readonly cols: number; readonly rows: number };
  #phase: 'smaller' | 'back' | 'painting' | 'over' = 'smaller';
  #timer: Timer;
  #painted: Timer | undefined;

  constructor(options: RepaintOptions) {
    this.#options = options;
    const { cols, rows } = options.size();
    this.#wanted = { cols, rows };
    this.#timer = options.clock.setTimer(turnMs, () => this.#back());
    options.resize(cols, rows > 1 ? rows - 1 : rows + 1);
  }

  /** The size has changed, in the stream. */
  resized(cols: number, rows: number): void {
    if (this.#phase === 'back' && cols === this.#wanted.cols && rows === this.#wanted.rows)
      this.#phase = 'painting';
  }

  /** The program wrote. */
  output(): void {
    const { clock } = this.#options;
    const { cols, rows } = this.#options.size();
    if (this.#phase === 'smaller') {
      if (cols !== this.#wanted.cols || rows !== this.#wanted.rows) this.#wait(() => this.#back());
    } else if (this.#phase === 'painting') {
      this.#painted ??= clock.setTimer(paintMs, () => this.#end());
      this.#wait(() => this.#end());
    }
  }

  [Symbol.dispose](): void {
    this.#phase = 'over';
    this.#timer[Symbol.dispose]();
    this.#painted?.[Symbol.dispose]();
  }

  #wait(then: () => void): void {
    this.#timer[Symbol.dispose]();
    this.#timer = this.#options.clock.setTimer(quietMs, then);
  }

  #back(): void {
    if (this.#phase !== 'smaller') return;
    this.#timer[Symbol.dispose]();
    this.#phase = 'back';
    this.#options.resize(this.#wanted.cols, this.#wanted.rows);
  }

  #end(): void {
    if (this.#phase === 'over') return;
    this[Symbol.dispose]();
    this.#options.onPainted();
  }
}
