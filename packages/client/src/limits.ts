/** Every bound of the client, each with its unit. */
export interface ClientLimits {
  /** A larger frame from the server ends the connection. Events have at most 64 KiB; lists and a screen's paint may have more. */
  readonly maxIncomingFrameBytes: number;
  /** Requests that wait for an answer. */
  readonly maxInFlight: number;
  /** Calls that wait for a connection. */
  readonly maxWaitingCalls: number;
  /** From the start of a connection to the answer to hello. */
  readonly connectTimeoutMs: number;
  /** How long a request waits for a connection, and then for its answer. */
  readonly answerTimeoutMs: number;
  /** How often a read is asked where its connection is lost. */
  readonly maxReadAttempts: number;
  /** Events one iterator keeps for its reader. */
  readonly maxBufferedEvents: number;
  /** Bytes of a terminal one attachment keeps for its reader. */
  readonly maxBufferedTerminalBytes: number;
  /** Keys that wait for the server, for one attachment. */
  readonly maxWaitingInputBytes: number;
}

export const defaultClientLimits: ClientLimits = {
  maxIncomingFrameBytes: 4 * 1024 * 1024,
  maxInFlight: 64,
  maxWaitingCalls: 64,
  connectTimeoutMs: 10_000,
  answerTimeoutMs: 30_000,
  maxReadAttempts: 3,
  maxBufferedEvents: 1_024,
  maxBufferedTerminalBytes: 4 * 1024 * 1024,
  maxWaitingInputBytes: 256 * 1024,
};

/** How a lost connection is made again. */
export interface ReconnectLimits {
  /** Attempts in a row; a connection that stood for `stableAfterMs` starts the count anew. */
  readonly maxAttempts: number;
  /** The first wait; each further one is twice as long, and half of it is chance. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  readonly stableAfterMs: number;
}

export const defaultReconnectLimits: ReconnectLimits = {
  maxAttempts: 60,
  firstDelayMs: 100,
  maxDelayMs: 10_000,
  stableAfterMs: 10_000,
};

/** The wait before the `attempt`th try, the first being 1. `chance` is from 0 to 1. */
export function delayBefore(attempt: number, limits: ReconnectLimits, chance: number): number {
  const doubled = limits.firstDelayMs * 2 ** Math.min(attempt - 1, 30);
  const whole = Math.min(limits.maxDelayMs, doubled);
  return Math.round(whole / 2 + (whole / 2) * chance);
}
