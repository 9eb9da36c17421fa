import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Caller } from '../caller.js';
import { receiptFor } from '../event-view.js';
import { fitting } from '../fitting.js';

const defaultListCount = 50;

export function get(
  { parts: { service }, view }: Caller,
  { idempotencyKey }: RequestOf<'receipt.get'>,
): ResultOf<'receipt.get'> {
  const receipt = service.receiptGet(view.deviceId, idempotencyKey);
  return { receipt: receipt && receiptFor(view, receipt) };
}

export async function wait(
  { parts: { service }, signal, view }: Caller,
  request: RequestOf<'receipt.wait'>,
): Promise<ResultOf<'receipt.wait'>> {
  const { receipt, waitEnded } = await service.receiptWait(view.deviceId, request, signal);
  return { receipt: receiptFor(view, receipt), waitEnded };
}

export function list(
  { parts: { service }, view }: Caller,
  { agentId, limit = defaultListCount, state = 'all' }: RequestOf<'receipts.list'>,
): ResultOf<'receipts.list'> {
  const receipts = service.receipts(view.deviceId, {
    unresolvedOnly: state === 'unresolved',
    maxCount: limit,
    ...(agentId === undefined ? {} : { agentId }),
  });
  // The newest that fit into a frame; older ones are asked for by their keys.
  return { receipts: fitting(receipts.map((receipt) => receiptFor(view, receipt))) };
}

export function resolve(
  { parts: { service } }: Caller,
  { agentId, deliveryId, outcome }: RequestOf<'receipt.resolve'>,
): ResultOf<'receipt.resolve'> {
  service.resolve(agentId, deliveryId, outcome);
  return {};
}
