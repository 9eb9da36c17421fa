/** A process that can't be mistaken for a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Kernel start time (clock ticks since boot on Linux), or null where the system doesn't tell. */
  readonly startTime: string | null;
}

export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly atMs: number;
}

/** Asked right before bytes leave; false stops the write there. */
export type WriteGate = () => boolean;

/**
 * One child on one terminal. In this process today, in a host process behind the
 * same interface tomorrow.
 */
export interface PtyEndpoint extends AsyncDisposable {
  readonly identity: ProcessIdentity;
  readonly cols: number;
  readonly rows: number;
  /** Null while the child lives. */
  readonly exit: ProcessExit | null;
  /** Bytes the child wrote, in order, chunked as they were read. */
  onData(listener: (data: Uint8Array) => void): Disposable;
  onExit(listener: (exit: ProcessExit) => void): Disposable;
  /**
   * Hands bytes to the kernel. A return proves only that they were taken from us:
   * what the child has read shows on its screen and nowhere else.
   * Resolves `carried_out` when every byte left this process, `nothing_written`
   * when none did, `ambiguous` when some may have.
   *
   * Writes go out in call order, one whole write after the other. `mayWrite` is
   * asked before every part of a write that goes out in parts; once it says no,
   * nothing more of this write leaves (reason `stale_token`).
   */
  write(data: Uint8Array, mayWrite?: WriteGate): Promise<WriteOutcome>;
  /**
   * Reads what the kernel holds of the child's output right now and hands it to the
   * `onData` listeners before returning. An endpoint that can't do that leaves it out.
   */
  readNow?(): void;
  /**
   * The same where the terminal is in another process: resolves when everything the
   * kernel held when this was called has reached the `onData` listeners.
   */
  sync?(): Promise<void>;
  /**
   * Present where a resize takes effect within the stream: told between what the child
   * wrote before it and what it wrote after it.
   */
  onResized?(listener: (size: TerminalSize) => void): Disposable;
  /** Present where output may be lost between child and listeners: told in the place of the lost bytes. */
  onOutputLost?(listener: (lost: LostOutput) => void): Disposable;
  /** Hands over a screen to begin from, instead of from the child's first byte. */
  checkpoint?(checkpoint: ScreenCheckpoint): void;
  /** Lets go of the child and leaves it as it is. */
  release?(): Promise<void>;
  resize(cols: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  /** True while the very process that was started is alive: pid and start time agree. */
  isSameProcessAlive(): boolean;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** A hole in the output; the size as it was behind it. */
export interface LostOutput extends TerminalSize {
  readonly lostBytes: number;
  /** Offset behind the hole, in all that the child wrote. */
  readonly offset: number;
  /** Sequences that set the modes which the lost bytes have set. */
  readonly modes: string;
}

/** A child's output as it happened: bytes, changes of size, and holes. */
export type OutputPart =
  | { readonly kind: 'output'; readonly data: Uint8Array }
  | { readonly kind: 'size'; readonly size: TerminalSize }
  | { readonly kind: 'lost'; readonly lost: LostOutput };

/** A screen as it stood when everything before `offset` was on it; opaque. */
export interface ScreenCheckpoint {
  readonly offset: number;
  readonly blob: Uint8Array;
}

export type WriteOutcome =
  | { readonly kind: 'carried_out' }
  | { readonly kind: 'nothing_written'; readonly reason: string }
  | { readonly kind: 'ambiguous'; readonly reason: string };
