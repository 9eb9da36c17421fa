import { expect, test } from 'vitest';
import { receiptErrorMeaning, receiptErrorMeanings, requestErrorMeanings } from './error-codes.js';
import { eventPayloadSchemas, eventSchema } from './event-schemas.js';
import { jsonSchemas } from './json-schema.js';
import type { Receipt } from './receipt.js';
import { receiptSchema } from './receipt-schema.js';

const receipt: Receipt = {
  idempotencyKey: 'k',
  deliveryId: 'd',
  operation: 'turn.send',
  state: 'rejected',
  machineId: 'm',
  agentId: 'a',
  serverInstanceId: 's',
  turnId: null,
  error: { code: 'enter_withheld:permission', message: 'a dialog opened' },
  at: 1_800_000_000_000,
  input: { mode: 'direct', phase: 'unconfirmed', hold: 'permission', evidence: 'record' },
};

test('a receipt of a newer server is read without its new fields', () => {
  expect(receiptSchema.parse({ ...receipt, newer: 1 })).toEqual(receipt);
  expect(receiptSchema.safeParse({ ...receipt, state: 'done' }).success).toBe(false);
});

test('an event and its payload', () => {
  const event = {
    type: 'event',
    eventId: 1,
    serverInstanceId: 's',
    machineId: 'm',
    agentId: 'a',
    kind: 'receipt.updated',
    payload: { receipt },
  };
  const parsed = eventSchema.parse({ ...event, newer: true });
  expect(parsed).toEqual(event);
  expect(eventPayloadSchemas['receipt.updated'].parse(parsed.payload)).toEqual({ receipt });
  expect(eventSchema.safeParse({ ...event, eventId: 0 }).success).toBe(false);
});

test('JSON Schema: requests are closed, receipts and events stay open', () => {
  const schemas = jsonSchemas();
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(['receipt', 'event', 'request/turn.send', 'event/question.open']),
  );
  expect(schemas['request/turn.send']).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    additionalProperties: false,
    required: ['type', 'requestId', 'machineId', 'agentId', 'text', 'idempotencyKey'],
    properties: { idempotencyKey: { pattern: '^[A-Za-z0-9_-]{1,64}$' } },
  });
  for (const name of ['receipt', 'event', 'event/agents.changed']) {
    expect(schemas[name]?.additionalProperties).not.toBe(false);
  }
});

test('every code has one line', () => {
  const lines = [...Object.values(requestErrorMeanings), ...Object.values(receiptErrorMeanings)];
  for (const line of lines) expect(line).toMatch(/^[A-Z][^\n]{10,110}\.$/);
  expect(receiptErrorMeaning('permission')).toContain('(permission)');
  expect(receiptErrorMeaning('toString')).toContain('(toString)');
});
