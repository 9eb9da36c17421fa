import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Caller } from '../caller.js';

const defaultTtlSec = 60;

export function subscribe(
  { parts, subscriptions }: Caller,
  { agentId, include, ttlSec = defaultTtlSec }: RequestOf<'agent.subscribe'>,
): ResultOf<'agent.subscribe'> {
  const agent = parts.service.agent(agentId);
  return { expiresAtMs: subscriptions.add(agent, include, ttlSec * 1_000) };
}

export function unsubscribe(
  { subscriptions }: Caller,
  { agentId }: RequestOf<'agent.unsubscribe'>,
): ResultOf<'agent.unsubscribe'> {
  subscriptions.remove(agentId);
  return {};
}
