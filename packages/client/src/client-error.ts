import { CodedError } from '@ostler/runtime';

/** Whether the request did something. A read that failed did nothing. */
export type RequestOutcome = 'not_carried_out' | 'unknown';

/** Codes of this client; a refusal of the server has the server's own code. */
export type ClientErrorCode =
  | 'ABORTED'
  | 'ANSWER_TIMEOUT'
  | 'ANSWER_UNREADABLE'
  | 'CLIENT_CLOSED'
  | 'CONNECTION_LOST'
  | 'CONNECT_FAILED'
  | 'EVENTS_OVERFLOW'
  | 'INBOX_FULL'
  | 'INBOX_KEY_REUSED'
  | 'INBOX_STORAGE'
  | 'MACHINE_CHANGED'
  | 'NOT_CONNECTED'
  | 'PAYLOAD_TOO_LARGE'
  | 'PLAYBACK_NOT_STARTED'
  | 'TERMINAL_OVERFLOW'
  | 'TOO_MANY_REQUESTS'
  | 'WRITE_BACKPRESSURE';

/**
 * What every call of the client fails with. `outcome` tells whether the request certainly was not
 * carried out; where it is `unknown`, send it again under the same idempotency key only, or ask
 * `receipt.get`.
 */
export class ClientError extends CodedError {
  readonly outcome: RequestOutcome;

  constructor(
    code: ClientErrorCode | (string & {}),
    outcome: RequestOutcome,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(code, message, options);
    this.name = 'ClientError';
    this.outcome = outcome;
  }
}

/** The error an aborted signal stands for. */
export function aborted(signal: AbortSignal, outcome: RequestOutcome): ClientError {
  const message = outcome === 'unknown' ? 'aborted behind the request; ask receipt.get' : 'aborted';
  return new ClientError('ABORTED', outcome, message, { cause: signal.reason });
}
