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
  resize(cols: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  /** True while the very process that was started is alive: pid and start time agree. */
  isSameProcessAlive(): boolean;
}

export type WriteOutcome =
  | { readonly kind: 'carried_out' }
  | { readonly kind: 'nothing_written'; readonly reason: string }
  | { readonly kind: 'ambiguous'; readonly reason: string };
