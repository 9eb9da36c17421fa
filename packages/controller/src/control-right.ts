import type { Reading } from '@ostler/engines';
import { type Clock, CodedError } from '@ostler/runtime';
import type { ScreenSnapshot, WriteOutcome } from '@ostler/terminal';
import type { InputEvent } from './machine-types.js';
import type { TerminalPort, WriteRight } from './ports.js';

/** What a holder of the control right may do. Dead once its use has ended. */
export interface ControlPen {
  look(): Promise<{ readonly reading: Reading; readonly snapshot: ScreenSnapshot }>;
  press(keys: string): Promise<WriteOutcome>;
  /** Looks at every change until `enough` says so; false when `withinMs` have passed first. */
  lookUntil(enough: (reading: Reading) => boolean, withinMs: number): Promise<boolean>;
}

interface ControlRightOptions {
  readonly terminal: TerminalPort;
  readonly clock: Clock;
  /** How long a use may wait for the writer to finish. */
  readonly waitMs: number;
  readonly read: (snapshot: ScreenSnapshot) => Reading;
  readonly post: (event: InputEvent) => void;
}

/** Answers, stops and takeovers, one at a time and never while an input is being typed. */
export class ControlRight {
  readonly #options: ControlRightOptions;
  readonly #waiting: (() => void)[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(options: ControlRightOptions) {
    this.#options = options;
  }

  /** The machine has handed over the keyboard. */
  granted(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#options.post({ type: 'CONTROL_RELEASED' });
  }

  screenChanged(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  async use<Result>(use: (pen: ControlPen) => Promise<Result>): Promise<Result> {
    await this.#wait();
    const { terminal, post } = this.#options;
    const right = terminal.acquire();
    try {
      return await use(this.#pen(right));
    } finally {
      terminal.release(right);
      post({ type: 'CONTROL_RELEASED' });
    }
  }

  async #wait(): Promise<void> {
    const { clock, post, waitMs } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const timer = clock.setTimer(waitMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        post({ type: 'CONTROL_WITHDRAWN' });
        reject(
          new CodedError(
            'CONTROL_BUSY',
            'an input was being typed all the while; try again in a moment',
          ),
        );
      });
      const enter = (): void => {
        timer[Symbol.dispose]();
        resolve();
      };
      this.#waiting.push(enter);
      post({ type: 'CONTROL_REQUESTED' });
    });
  }

  #pen(right: WriteRight): ControlPen {
    const { clock, read, terminal } = this.#options;
    const look: ControlPen['look'] = async () => {
      const snapshot = await terminal.look();
      return { snapshot, reading: read(snapshot) };
    };
    return {
      look,
      press: async (keys) => await terminal.press(right, keys),
      lookUntil: async (enough, withinMs) => {
        let expired = false;
        let wake = (): void => undefined;
        const watcher = (): void => wake();
        this.#watchers.add(watcher);
        const timer = clock.setTimer(withinMs, () => {
          expired = true;
          wake();
        });
        try {
          for (;;) {
            const changed = new Promise<void>((resolve) => {
              wake = resolve;
            });
            const { reading } = await look();
            if (enough(reading)) return true;
            if (expired) return false;
            await changed;
          }
        } finally {
          timer[Symbol.dispose]();
          this.#watchers.delete(watcher);
        }
      },
    };
  }
}
