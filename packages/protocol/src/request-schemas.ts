import { z } from 'zod';
import {
  maxCapabilitiesCount,
  maxRecapTurns,
  maxSubscriptionSec,
  maxTokenCharacters,
  maxWaitMs,
  receiptsPerDeviceCount,
} from './constants.js';
import { localRequestSchemas } from './local-request-schemas.js';
import {
  answers,
  focusRevision,
  idempotencyKey,
  name,
  requestId,
  target,
  text,
} from './request-fields.js';
import type { Operation, RequestOf } from './requests.js';

/** Strict: a request with a field that isn't here is refused. */
export const requestSchemas: { readonly [Name in Operation]: z.ZodType<RequestOf<Name>> } = {
  hello: z.strictObject({
    type: z.literal('hello'),
    requestId,
    proto: z.int(),
    token: z.string().min(1).max(maxTokenCharacters).exactOptional(),
    capabilities: z.array(name).max(maxCapabilitiesCount).exactOptional(),
    resume: z.strictObject({ serverInstanceId: name, cursor: z.int().min(0) }).exactOptional(),
  }),
  'agents.list': z.strictObject({
    type: z.literal('agents.list'),
    requestId,
    after: name.exactOptional(),
  }),
  status: z.strictObject({ type: z.literal('status'), requestId, ...target }),
  recap: z.strictObject({
    type: z.literal('recap'),
    requestId,
    ...target,
    n: z.int().min(1).max(maxRecapTurns).exactOptional(),
  }),
  'turn.send': z.strictObject({
    type: z.literal('turn.send'),
    requestId,
    focusRevision,
    ...target,
    text,
    idempotencyKey,
  }),
  'turn.stop': z.strictObject({
    type: z.literal('turn.stop'),
    requestId,
    ...target,
    idempotencyKey,
  }),
  'question.answer': z.strictObject({
    type: z.literal('question.answer'),
    requestId,
    focusRevision,
    ...target,
    questionRequestId: name,
    answers,
    idempotencyKey,
  }),
  'receipt.get': z.strictObject({ type: z.literal('receipt.get'), requestId, idempotencyKey }),
  'receipt.wait': z.strictObject({
    type: z.literal('receipt.wait'),
    requestId,
    until: z.enum(['accepted', 'started', 'settled']),
    timeoutMs: z.int().min(0).max(maxWaitMs),
    idempotencyKey,
  }),
  'receipts.list': z.strictObject({
    type: z.literal('receipts.list'),
    requestId,
    state: z.enum(['unresolved', 'all']).exactOptional(),
    agentId: name.exactOptional(),
    limit: z.int().min(1).max(receiptsPerDeviceCount).exactOptional(),
  }),
  'focus.get': z.strictObject({ type: z.literal('focus.get'), requestId }),
  'focus.set': z.strictObject({
    type: z.literal('focus.set'),
    requestId,
    machineId: name,
    agentId: name.nullable(),
  }),
  'agent.subscribe': z.strictObject({
    type: z.literal('agent.subscribe'),
    requestId,
    ...target,
    ttlSec: z.int().min(1).max(maxSubscriptionSec).exactOptional(),
    include: z
      .array(z.enum(['tool', 'text', 'final']))
      .min(1)
      .max(3)
      .exactOptional(),
  }),
  'agent.unsubscribe': z.strictObject({
    type: z.literal('agent.unsubscribe'),
    requestId,
    ...target,
  }),
  'pair.revoke': z.strictObject({ type: z.literal('pair.revoke'), requestId }),
  ...localRequestSchemas,
};
