import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, type JsonValue } from './canonical-json.js';
import { intentDigest } from './intent-digest.js';
import type { TurnSendRequest } from './requests.js';

const send: TurnSendRequest = {
  type: 'turn.send',
  requestId: '00000000-0000-4000-8000-000000000001',
  machineId: 'm',
  agentId: 'a',
  idempotencyKey: 'k',
  text: 'grüße 🐎',
};

test('is SHA-256 of the sorted request without requestId and key', () => {
  const json = '{"agentId":"a","machineId":"m","text":"grüße 🐎","type":"turn.send"}';
  expect(intentDigest(send)).toBe(createHash('sha256').update(json).digest('hex'));
});

test('the same for a retry, another for any other intent', () => {
  const digest = intentDigest(send);
  expect(intentDigest({ ...send, requestId: 'other', idempotencyKey: 'other' })).toBe(digest);
  for (const other of [
    { ...send, text: 'grüße 🐎 ' },
    { ...send, agentId: 'b' },
    { ...send, focusRevision: 0 },
  ]) {
    expect(intentDigest(other)).not.toBe(digest);
  }
});

test('the order of fields makes no difference, at any depth', () => {
  const shuffled = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(shuffled)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, field]) => [key, shuffled(field)]),
          )
        : value;
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const json = canonicalJson(value as JsonValue);
      expect(canonicalJson(shuffled(value) as JsonValue)).toBe(json);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 200 },
  );
});
