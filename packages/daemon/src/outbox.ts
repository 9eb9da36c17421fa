import { maxFrameBytes } from '@ostler/protocol';
import type { Transport } from './listeners/transport.js';

export interface OutboxOptions {
  readonly transport: Transport;
  readonly maxUnsentBytes: number;
  readonly pauseAtUnsentBytes: number;
  /** The peer reads too slowly; nothing more is sent. */
  readonly onOverrun: () => void;
}

/**
 * What goes out to one peer, in order. While events are sent again, live ones wait behind them;
 * what waits counts against the same limit.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #replaying = false;
  #ended = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get unsentBytes(): number {
    return this.#options.transport.unsentBytes + this.#waitingBytes;
  }

  /**
   * An answer: never waits behind events that are sent again. False where it is larger than a
   * frame; then nothing is sent.
   */
  answer(message: object): boolean {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > maxFrameBytes) return false;
    this.#send(text);
    return true;
  }

  /** A live event or frame, behind everything told before. */
  tell(message: object): void {
    const text = JSON.stringify(message);
    if (!this.#replaying) {
      this.#send(text);
      return;
    }
    if (this.unsentBytes + text.length > this.#options.maxUnsentBytes) {
      this.#overrun();
      return;
    }
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
  }

  /** Sends events again, no faster than the peer takes them; live ones follow. */
  replay(messages: readonly object[]): void {
    if (messages.length === 0) return;
    this.#replaying = true;
    this.#pump(messages, 0);
  }

  end(): void {
    this.#ended = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #pump(messages: readonly object[], from: number): void {
    const { pauseAtUnsentBytes, transport } = this.#options;
    for (let index = from; index < messages.length; index += 1) {
      if (this.#ended) return;
      if (transport.unsentBytes > pauseAtUnsentBytes) {
        transport.whenDrained(() => this.#pump(messages, index));
        return;
      }
      this.#send(JSON.stringify(messages[index]));
    }
    this.#replaying = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const text of waiting) this.#send(text);
  }

  #send(text: string): void {
    if (this.#ended) return;
    const { maxUnsentBytes, transport } = this.#options;
    if (this.unsentBytes + text.length > maxUnsentBytes) this.#overrun();
    else transport.send(text);
  }

  #overrun(): void {
    this.end();
    this.#options.onOverrun();
  }
}
