import type { Operation, RequestOf, ResultOf } from '@ostler/protocol';

/** What `call` can ask for; hello is the client's own. */
export type CallableOperation = Exclude<Operation, 'hello'>;

/** A request without what the client fills in. */
export type FieldsOf<Name extends Operation> = Omit<RequestOf<Name>, 'type' | 'requestId'>;

export type Call = <Name extends CallableOperation>(
  operation: Name,
  fields: FieldsOf<Name>,
  signal?: AbortSignal,
) => Promise<ResultOf<Name>>;

const reads: ReadonlySet<Operation> = new Set<Operation>([
  'agents.list',
  'status',
  'recap',
  'receipt.get',
  'receipt.wait',
  'receipts.list',
  'focus.get',
  'agent.screen',
  'agent.sessions',
  'server.status',
  'device.list',
]);

/** True where asking twice is asking once. All else is never sent again by the client. */
export function isRead(operation: Operation): boolean {
  return reads.has(operation);
}

const keyed: ReadonlySet<Operation> = new Set<Operation>([
  'turn.send',
  'turn.stop',
  'question.answer',
]);

/** What to do where the answer was lost. */
export function adviceAfterLoss(operation: Operation): string {
  if (isRead(operation)) return 'nothing was changed; ask again';
  if (keyed.has(operation)) {
    return 'send it again under the same idempotency key, or ask receipt.get';
  }
  return 'look whether it was done before asking again';
}
