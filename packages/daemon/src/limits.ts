/** Every bound of the daemon, each with its unit. */
export interface DaemonLimits {
  readonly maxConnections: number;
  /** How long a connection may be open before its hello has been taken. */
  readonly helloDeadlineMs: number;
  /** Requests a connection may make at once, and how many it regains each second. */
  readonly rateBurst: number;
  readonly ratePerSecond: number;
  /** Requests of one connection that may wait for their answer. */
  readonly maxInFlight: number;
  /** What may wait for a slow reader; past it the connection ends. */
  readonly maxUnsentBytes: number;
  /** While more than this waits, no events are sent again and terminal views pause. */
  readonly pauseAtUnsentBytes: number;
  readonly maxDevices: number;
  /** Views of terminals, over all connections. */
  readonly maxViews: number;
  /** Wrong tokens from one address within the window, before it has to wait out the window. */
  readonly maxWrongTokens: number;
  readonly wrongTokenWindowMs: number;
  /** Addresses remembered for that. */
  readonly maxWatchedAddresses: number;
  /** How long a silent WebSocket may stay unanswered before it ends. */
  readonly pingIntervalMs: number;
  readonly drainMs: number;
}

export const defaultDaemonLimits: DaemonLimits = {
  maxConnections: 1_024,
  helloDeadlineMs: 10_000,
  rateBurst: 20,
  ratePerSecond: 1,
  maxInFlight: 4,
  maxUnsentBytes: 4 * 1024 * 1024,
  pauseAtUnsentBytes: 256 * 1024,
  maxDevices: 64,
  maxViews: 64,
  maxWrongTokens: 10,
  wrongTokenWindowMs: 60_000,
  maxWatchedAddresses: 1_024,
  pingIntervalMs: 30_000,
  drainMs: 10_000,
};
