import type { Reading } from '@ostler/engines';
import type { InputMode } from '@ostler/protocol';
import type { ScreenSnapshot, WriteOutcome } from '@ostler/terminal';
import type { EndedDelivery, ReceiptChange, TurnEnd } from './machine-types.js';

/** A right to write, with a number the write point compares. Later rights have higher numbers. */
export interface WriteRight {
  readonly fence: number;
}

/** The terminal as the controller sees it: looks, and writes under a right. */
export interface TerminalPort {
  /** Everything read from the child so far is on the returned screen. */
  look(): Promise<ScreenSnapshot>;
  /** Calls back after output was parsed and something visible changed. */
  onChange(listener: () => void): Disposable;
  isSameProcessAlive(): boolean;
  /** Counts up with each write of a person's keys: what they did to the composer is no evidence. */
  personWrites(): number;
  /** Takes the keyboard; a person's keys wait until `release`. */
  acquire(): WriteRight;
  release(right: WriteRight): void;
  /** Frames back to back in one write, each in brackets where the program asked for them. */
  paste(right: WriteRight, frames: readonly string[]): Promise<WriteOutcome>;
  /** Raw key bytes, alone. */
  press(right: WriteRight, keys: string): Promise<WriteOutcome>;
}

/** Where a dispatch is made durable. Both throw when they can't. */
export interface JournalPort {
  /** On the disk before it returns; throws where the delivery may not be written any more. */
  dispatched(deliveryId: string, mode: InputMode, fingerprint: string, atMs: number): void;
  step(
    deliveryId: string,
    step: 'paste_begun' | 'paste_written' | 'enter_begun' | 'enter_written',
  ): void;
}

/** What a session tells its owner. */
export interface SessionListener {
  /** In order; each is committed before the machine goes on. */
  receiptChanged(deliveryId: string, change: ReceiptChange): void;
  /** A turn ended, and with it these deliveries, all at once; their receipts are told this way alone. */
  turnEnded(end: TurnEnd, deliveries: readonly EndedDelivery[]): void;
  /** Every look's reading, unchanged ones included. */
  read(reading: Reading, snapshot: ScreenSnapshot): void;
}
