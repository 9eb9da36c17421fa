import type { RequestOf, ResultOf } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { Caller } from '../caller.js';

export async function attach(
  caller: Caller,
  request: RequestOf<'agent.attach'>,
): Promise<ResultOf<'agent.attach'>> {
  const { service, views } = caller.parts;
  const agent = service.agent(request.agentId);
  const { cols, readOnly = false, rows } = request;
  const size = cols !== undefined && rows !== undefined ? { cols, rows } : null;
  return await views.open(caller, agent, { readOnly, size });
}

export function detach(
  { outbox, parts: { views } }: Caller,
  { attachId }: RequestOf<'agent.detach'>,
): ResultOf<'agent.detach'> {
  views.of(outbox, attachId)[Symbol.dispose]();
  return {};
}

export function input(
  { outbox, parts: { views } }: Caller,
  { attachId, data }: RequestOf<'agent.input'>,
): ResultOf<'agent.input'> {
  const outcome = views.of(outbox, attachId).type(Buffer.from(data, 'base64'));
  if (outcome === 'refused') {
    throw new CodedError('BACKPRESSURE', 'too many keys wait for the end of a delivery');
  }
  return { outcome };
}

export function size(
  { outbox, parts: { views } }: Caller,
  { attachId, cols, rows }: RequestOf<'agent.size'>,
): ResultOf<'agent.size'> {
  views.of(outbox, attachId).resize(cols, rows);
  return {};
}
