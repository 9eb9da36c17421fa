import type { Receipt } from '@ostler/protocol';
import { type Clock, CodedError, type Logger } from '@ostler/runtime';
import type { AgentSession } from '../agent-session.js';
import type { ReceiptsLedger } from '../receipts-ledger.js';

/** What an operation may use. */
export interface OperationContext {
  /** The authenticated caller. */
  readonly deviceId: string;
  readonly ledger: ReceiptsLedger;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A live agent. Throws CodedError AGENT_NOT_FOUND, NO_AGENTS. */
  readonly agent: (agentId: string) => AgentSession;
  /** Throws CodedError FOCUS_UNAVAILABLE, FOCUS_CHANGED. */
  readonly guardFocus?: (agentId: string, focusRevision: number | undefined) => void;
  /** False once the service drains: nothing new is claimed. */
  readonly takesWork: () => boolean;
  /** How long one key step of an answer or a stop may take to show. */
  readonly stepMs: number;
}

/** The answer of every mutation. */
export interface Reserved {
  readonly status: 'accepted' | 'duplicate';
  readonly receipt: Receipt;
}

export function stopping(): CodedError<'BACKPRESSURE'> {
  return new CodedError('BACKPRESSURE', 'the server is being stopped; try again soon');
}
