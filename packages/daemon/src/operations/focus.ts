import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Caller } from '../caller.js';

export function get({ parts: { service } }: Caller): ResultOf<'focus.get'> {
  return service.focus;
}

export function set(
  { parts: { service } }: Caller,
  { agentId }: RequestOf<'focus.set'>,
): ResultOf<'focus.set'> {
  return service.setFocus(agentId);
}
