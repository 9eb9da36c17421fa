import { bracketedPaste } from './bracketed-paste.js';
import { keys } from './keys.js';
import type { PtyEndpoint, WriteOutcome } from './pty-endpoint.js';
import { isSafeInPaste } from './sanitise.js';

/** A fencing token: a number that rises with every lease. Only the newest may write. */
export type LeaseToken = number & { readonly __lease: true };

export type GuardedWriteOutcome =
  | WriteOutcome
  /** Nothing left this process. */
  | {
      readonly kind: 'refused';
      readonly reason: 'stale_token' | 'control_in_paste' | 'lines_without_brackets';
    };

export type PersonInputOutcome =
  /** On its way, behind what was written before. */
  | { readonly kind: 'passed_on'; readonly written: Promise<WriteOutcome> }
  /** Waits for the end of the lease. */
  | { readonly kind: 'held' }
  | { readonly kind: 'refused'; readonly reason: 'held_limit' };

export interface GuardedWriterLimits {
  /** A person's bytes kept back while somebody holds the lease. */
  readonly maxHeldPersonBytes: number;
}

export const guardedWriterLimits: GuardedWriterLimits = { maxHeldPersonBytes: 64 * 1024 };

export interface GuardedWriterOptions {
  readonly endpoint: Pick<PtyEndpoint, 'write'>;
  /** Whether mode 2004 is on, by everything parsed so far. */
  readonly bracketedPaste: () => boolean;
  /** Called with everything of which at least a part has left, in order, and with when that began. */
  readonly onWritten?: (data: Uint8Array, begunAtMs: number) => void;
  /** Monotonic. */
  readonly nowMs?: () => number;
  /** Called when a person's keys that had been held did not all go out after the lease. */
  readonly onHeldLost?: (outcome: Exclude<WriteOutcome, { kind: 'carried_out' }>) => void;
  readonly limits?: Partial<GuardedWriterLimits>;
}

const encoder = new TextEncoder();
const always = (): boolean => true;
const unknownTime = (): number => Number.NaN;

/**
 * The one place where bytes leave for the program. Whoever types for the house takes
 * a lease; its token is checked again each time a part of a write is about to leave,
 * not only when the write is asked for.
 *
 * A person's keys are held back during a lease and released after it, whole and in
 * order. The terminal's own replies always pass, between two writes and never inside
 * one. Each write goes out whole before the next one (`PtyEndpoint.write`).
 */
export class GuardedWriter {
  readonly #options: GuardedWriterOptions;
  readonly #limits: GuardedWriterLimits;
  #newest = 0;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #leased = false;
  #personWrites = 0;

  constructor(options: GuardedWriterOptions) {
    this.#options = options;
    this.#limits = { ...guardedWriterLimits, ...options.limits };
  }

  /** True while a lease is out. */
  get leased(): boolean {
    return this.#leased;
  }

  /** How often a person's keys have gone out, kept back ones at their release. */
  get personWrites(): number {
    return this.#personWrites;
  }

  /** Takes the lease; every earlier token is stale from here on. */
  acquire(): LeaseToken {
    this.#newest += 1;
    this.#leased = true;
    return this.#newest as LeaseToken;
  }

  /** Gives the lease back and lets the held keys go. A stale token changes nothing. */
  release(token: LeaseToken): void {
    if (!this.#isCurrent(token)) return;
    this.#leased = false;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    if (held.length === 0) return;
    this.#personWrites += 1;
    void this.#handOn(joined(held)).then((outcome) => {
      if (outcome.kind !== 'carried_out') this.#options.onHeldLost?.(outcome);
    });
  }

  /** Keys, as they are. */
  write(token: LeaseToken, data: string | Uint8Array): Promise<GuardedWriteOutcome> {
    return this.#writeUnderLease(token, typeof data === 'string' ? encoder.encode(data) : data);
  }

  /**
   * Pastes the frames in one write: each in brackets of its own while mode 2004 is on.
   * While it is off the frames go out plain, and a text of several lines is refused
   * (`lines_without_brackets`): its first newline would submit it. A frame with a
   * control character in it is refused (`control_in_paste`); see `sanitiseBody`.
   */
  paste(token: LeaseToken, frames: readonly string[]): Promise<GuardedWriteOutcome> {
    if (!frames.every(isSafeInPaste)) return refused('control_in_paste');
    if (this.#options.bracketedPaste())
      return this.#writeUnderLease(token, encoder.encode(bracketedPaste(frames)));
    if (frames.some((frame) => frame.includes('\n'))) return refused('lines_without_brackets');
    return this.#writeUnderLease(token, encoder.encode(frames.join('')));
  }

  /** Enter, alone in its write. */
  enter(token: LeaseToken): Promise<GuardedWriteOutcome> {
    return this.#writeUnderLease(token, encoder.encode(keys.enter));
  }

  /** A person's keys: out at once, or held while a lease is out (`maxHeldPersonBytes`). */
  personInput(data: string | Uint8Array): PersonInputOutcome {
    const bytes = typeof data === 'string' ? encoder.encode(data) : data;
    if (!this.#leased) {
      this.#personWrites += 1;
      return { kind: 'passed_on', written: this.#handOn(bytes) };
    }
    if (this.#heldBytes + bytes.length > this.#limits.maxHeldPersonBytes)
      return { kind: 'refused', reason: 'held_limit' };
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    return { kind: 'held' };
  }

  /** A reply of the terminal itself. */
  reply(data: string): Promise<WriteOutcome> {
    return this.#handOn(encoder.encode(data));
  }

  async #writeUnderLease(token: LeaseToken, data: Uint8Array): Promise<GuardedWriteOutcome> {
    if (!this.#isCurrent(token)) return refused('stale_token');
    const outcome = await this.#handOn(data, () => this.#isCurrent(token));
    return outcome.kind === 'nothing_written' && outcome.reason === 'stale_token'
      ? { kind: 'refused', reason: 'stale_token' }
      : outcome;
  }

  #isCurrent(token: LeaseToken): boolean {
    return this.#leased && token === this.#newest;
  }

  async #handOn(data: Uint8Array, mayWrite: () => boolean = always): Promise<WriteOutcome> {
    const { endpoint, nowMs = unknownTime, onWritten } = this.#options;
    // A write that wakes the program may return long after its bytes have left.
    let begunAtMs = Number.NaN;
    const outcome = await endpoint.write(data, () => {
      if (!mayWrite()) return false;
      if (Number.isNaN(begunAtMs)) begunAtMs = nowMs();
      return true;
    });
    if (outcome.kind !== 'nothing_written') onWritten?.(data, begunAtMs);
    return outcome;
  }
}

function refused(
  reason: Extract<GuardedWriteOutcome, { kind: 'refused' }>['reason'],
): Promise<GuardedWriteOutcome> {
  return Promise.resolve({ kind: 'refused', reason });
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
