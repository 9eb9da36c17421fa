/** Every bound of one session's input, each with its unit. All are configurable. */
export interface ControllerLimits {
  /** Inputs that may wait behind the active one. */
  readonly maxWaitingItems: number;
  /** UTF-8 bytes of all waiting inputs together. */
  readonly maxWaitingBytes: number;
  /** How long an input may stay undispatched before it expires. */
  readonly waitingExpiryMs: number;
  /** Dispatched inputs whose consumption has not been seen; past it new ones are refused. */
  readonly maxUnresolvedItems: number;
  /** Enters pressed again after the first, never on the first look. */
  readonly maxEnterRetries: number;
  /** How long an exact draft must have stayed after an Enter before another is considered. */
  readonly enterRetryAfterMs: number;
  /** How long the paste may take to show as exactly our draft. */
  readonly echoDeadlineMs: number;
  /** How long after the Enter evidence is awaited before the input is `unconfirmed`. */
  readonly confirmWindowMs: number;
  /** Looks within that window. */
  readonly maxConfirmLooks: number;
  /** How long a screen must have read idle before an accepted input without a seen end stops counting as a running turn. */
  readonly idleSettleMs: number;
  /** How long the control right, for an answer or a stop, may be waited for. */
  readonly controlWaitMs: number;
  /** How long one key step of an answer or a stop may take to show. */
  readonly answerStepMs: number;
  /** How long after an accepted idle input its turn's start is awaited, in engines that need it seen. */
  readonly turnStartMs: number;
  /** How long a person's keys must have been still before anything is typed: their echo may be under way. */
  readonly personQuietMs: number;
  /** How long an equal text waits behind one that was pasted, never seen and is in doubt: its echo may be late. */
  readonly twinHoldMs: number;
  /** Key rounds spent on taking our own unsent text back out of the composer. */
  readonly maxReclaimRounds: number;
}

export const defaultLimits: ControllerLimits = {
  maxWaitingItems: 8,
  maxWaitingBytes: 24 * 1024,
  waitingExpiryMs: 5 * 60_000,
  maxUnresolvedItems: 64,
  maxEnterRetries: 2,
  enterRetryAfterMs: 2_000,
  echoDeadlineMs: 15_000,
  confirmWindowMs: 15_000,
  maxConfirmLooks: 1_000,
  idleSettleMs: 3_000,
  controlWaitMs: 10_000,
  answerStepMs: 5_000,
  turnStartMs: 3_000,
  personQuietMs: 150,
  twinHoldMs: 30_000,
  maxReclaimRounds: 4,
};
