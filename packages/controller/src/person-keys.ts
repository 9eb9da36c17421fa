import type { Clock } from '@ostler/runtime';

/** How long a person's keys may take until the engine has read and shown them. */
const personSettlesMs = 10_000;
const maxRememberedTexts = 256;

/** When a person last typed, and which of our texts they may have brought back since. */
export class PersonKeys {
  readonly #clock: Clock;
  readonly #writes: () => number;
  #writesBeforePaste = 0;
  #seen = { writes: 0, atMs: Number.NEGATIVE_INFINITY };
  /** Fingerprints of what was pasted, the newest last. */
  readonly #pasted = new Set<string>();

  /** `writes` counts what a person has written to the terminal. */
  constructor(clock: Clock, writes: () => number) {
    this.#clock = clock;
    this.#writes = writes;
  }

  /** Counted from when it was noticed; each look notices. */
  typedAgoMs(): number {
    const nowMs = this.#clock.monotonicMs();
    const writes = this.#writes();
    if (writes !== this.#seen.writes) this.#seen = { writes, atMs: nowMs };
    return nowMs - this.#seen.atMs;
  }

  /** A person wrote behind the paste of an earlier process. */
  typedBeforeUs(): void {
    this.#writesBeforePaste = -1;
  }

  pasteBegins(): void {
    this.#writesBeforePaste = this.#writes();
  }

  get typedSincePaste(): boolean {
    return this.#writes() > this.#writesBeforePaste;
  }

  /** Remembers a text that is about to be pasted; true where a person may be bringing an equal one back. */
  rememberText(fingerprint: string): boolean {
    const isTwinTouched = this.#pasted.has(fingerprint) && this.typedAgoMs() < personSettlesMs;
    this.#pasted.delete(fingerprint);
    this.#pasted.add(fingerprint);
    const [oldest] = this.#pasted;
    if (this.#pasted.size > maxRememberedTexts && oldest !== undefined) this.#pasted.delete(oldest);
    return isTwinTouched;
  }
}
