import type { PtyEndpoint } from './pty-endpoint.js';
import type { Screen } from './screen.js';

/** Output between two checkpoints: far less than a host keeps of it. */
const checkpointEveryBytes = 128 * 1024;

/** Hands an endpoint that takes them a checkpoint of the screen from time to time. */
export class CheckpointPace {
  readonly #put: NonNullable<PtyEndpoint['checkpoint']>;
  readonly #screen: Screen;
  #offset: number;
  #written: number;

  private constructor(put: NonNullable<PtyEndpoint['checkpoint']>, screen: Screen, offset: number) {
    this.#put = put;
    this.#screen = screen;
    this.#offset = offset;
    this.#written = offset;
  }

  static of(endpoint: PtyEndpoint, screen: Screen, offset: number): CheckpointPace | undefined {
    return endpoint.checkpoint
      ? new CheckpointPace((checkpoint) => endpoint.checkpoint?.(checkpoint), screen, offset)
      : undefined;
  }

  fed(bytes: number): void {
    this.#offset += bytes;
    if (this.#offset - this.#written >= checkpointEveryBytes) this.write();
  }

  skipped(offset: number): void {
    this.#offset = offset;
  }

  /** Not of a screen that isn't certain, and not in the middle of a sequence: soon, then. */
  write(): void {
    if (this.#offset === this.#written || !this.#screen.certain) return;
    const checkpoint = this.#screen.checkpoint();
    if (!checkpoint) return;
    this.#written = this.#offset;
    this.#put({
      offset: this.#offset - checkpoint.unfinishedBytes,
      blob: checkpoint.blob,
    });
  }
}
