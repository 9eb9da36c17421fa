import {
  intentDigest,
  type QuestionAnswerRequest,
  type TurnSendRequest,
  type TurnStopRequest,
} from '@ostler/protocol';
import type { Reservation } from '@ostler/store';
import type { AgentSession } from '../agent-session.js';
import { type OperationContext, type Reserved, stopping } from './operation.js';

type Mutation = TurnSendRequest | TurnStopRequest | QuestionAnswerRequest;

/**
 * The checks every mutation shares, in their order: a duplicate is answered even after the
 * agent left, and while the service drains; then the agent must exist, then what `check` asks
 * must hold, then new work must be taken, and then the key is claimed. `dispatch` runs only for
 * the one call that claimed it.
 */
export function claimThen(
  context: OperationContext,
  request: Mutation,
  steps: {
    readonly check?: (agent: AgentSession) => void;
    readonly details?: (agent: AgentSession) => Pick<Reservation, 'textBytes' | 'input'>;
    readonly dispatch: (agent: AgentSession, reserved: Reserved) => void;
  },
): Reserved {
  const { deviceId, ledger } = context;
  const { agentId, idempotencyKey } = request;
  const claim = { deviceId, idempotencyKey, intentDigest: intentDigest(request) };
  const earlier = ledger.lookup(claim);
  if (earlier) return { status: 'duplicate', receipt: earlier };
  context.guardFocus?.(agentId, 'focusRevision' in request ? request.focusRevision : undefined);
  const agent = context.agent(agentId);
  steps.check?.(agent);
  if (!context.takesWork()) throw stopping();
  const reserved = ledger.reserve({
    ...claim,
    operation: request.type,
    agentId,
    ...steps.details?.(agent),
  });
  if (reserved.status === 'duplicate') return reserved;
  steps.dispatch(agent, reserved);
  return { status: 'accepted', receipt: ledger.latest(deviceId, reserved.receipt) };
}
