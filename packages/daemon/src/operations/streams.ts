import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Connection } from '../connection.js';

const defaultTtlSec = 60;

export function subscribe(
  { parts, subscriptions }: Connection,
  { agentId, include, ttlSec = defaultTtlSec }: RequestOf<'agent.subscribe'>,
): ResultOf<'agent.subscribe'> {
  const agent = parts.service.agent(agentId);
  return { expiresAtMs: subscriptions.add(agent, include, ttlSec * 1_000) };
}

export function unsubscribe(
  { subscriptions }: Connection,
  { agentId }: RequestOf<'agent.unsubscribe'>,
): ResultOf<'agent.unsubscribe'> {
  subscriptions.remove(agentId);
  return {};
}
