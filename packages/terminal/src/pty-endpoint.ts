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
   */
  write(data: Uint8Array): Promise<WriteOutcome>;
  resize(cols: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  /** True while the very process that was started is alive: pid and start time agree. */
  isSameProcessAlive(): boolean;
}

export type WriteOutcome =
  | { readonly kind: 'carried_out' }
  | { readonly kind: 'nothing_written'; readonly reason: string }
  | { readonly kind: 'ambiguous'; readonly reason: string };
