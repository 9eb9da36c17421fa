import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Connection } from '../connection.js';

export function get({ parts: { service } }: Connection): ResultOf<'focus.get'> {
  return service.focus;
}

export function set(
  { parts: { service } }: Connection,
  { agentId }: RequestOf<'focus.set'>,
): ResultOf<'focus.set'> {
  return service.setFocus(agentId);
}
