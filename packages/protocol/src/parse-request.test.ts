import { describe, expect, test } from 'vitest';
import { maxTextBytes } from './constants.js';
import { parseRequest } from './parse-request.js';

const requestId = '00000000-0000-4000-8000-000000000001';
const send = {
  type: 'turn.send',
  requestId,
  machineId: 'm',
  agentId: 'a',
  idempotencyKey: 'key-1',
  text: 'hello',
};
const answer = {
  type: 'question.answer',
  requestId,
  machineId: 'm',
  agentId: 'a',
  idempotencyKey: 'key-1',
  questionRequestId: 'q',
  answers: { Which: 'one' },
};
const launch = { type: 'agent.launch', requestId, name: 'n', engine: 'e', cwd: '/' };

function codeOf(value: unknown, machineId?: string): string {
  const parsed = parseRequest(value, machineId === undefined ? {} : { machineId });
  return parsed.kind === 'request' ? 'ok' : parsed.error.code;
}

test.each([
  send,
  { ...send, focusRevision: 0 },
  { type: 'turn.stop', requestId, machineId: 'm', agentId: 'a', idempotencyKey: 'k' },
  answer,
  { type: 'receipt.get', requestId, idempotencyKey: 'k' },
  { type: 'receipt.wait', requestId, idempotencyKey: 'k', until: 'settled', timeoutMs: 60_000 },
  launch,
  { ...launch, command: 'c', args: ['-x'], env: { A: '' }, cleanEnv: true, cols: 100, rows: 32 },
  { type: 'agent.close', requestId, machineId: 'm', agentId: 'a' },
  { type: 'agent.resize', requestId, machineId: 'm', agentId: 'a', cols: 80, rows: 24 },
])('takes $type', (value) => {
  expect(parseRequest(value, { machineId: 'm' })).toEqual({ kind: 'request', request: value });
});

test.each<[string, string, unknown]>([
  ['not an object', 'INVALID_REQUEST', [send]],
  ['null', 'INVALID_REQUEST', null],
  ['no requestId', 'INVALID_REQUEST', { ...send, requestId: undefined }],
  ['a UUIDv1', 'INVALID_REQUEST', { ...send, requestId: '00000000-0000-1000-8000-000000000001' }],
  ['no type', 'INVALID_REQUEST', { ...send, type: undefined }],
  ['an operation there is not', 'UNSUPPORTED_CAPABILITY', { ...send, type: 'turn.retry' }],
  ['the marker as operation', 'UNSUPPORTED_CAPABILITY', { ...send, type: 'input.status.v1' }],
  ['a name every object has', 'UNSUPPORTED_CAPABILITY', { ...send, type: 'constructor' }],
  ['an unknown field', 'INVALID_REQUEST', { ...send, retries: 1 }],
  ['deviceId as a field', 'INVALID_REQUEST', { ...send, deviceId: 'local' }],
  ['undefined as focusRevision', 'INVALID_REQUEST', { ...send, focusRevision: undefined }],
  ['half a focusRevision', 'INVALID_REQUEST', { ...send, focusRevision: 0.5 }],
  ['no machine', 'MISSING_TARGET', { ...send, machineId: undefined }],
  ['an empty agent', 'MISSING_TARGET', { ...send, agentId: '' }],
  ['another machine', 'MACHINE_MISMATCH', { ...send, machineId: 'm2' }],
  ['no text', 'INVALID_REQUEST', { ...send, text: undefined }],
  ['a blank text', 'INVALID_REQUEST', { ...send, text: ' \n\t\u200b\u00a0' }],
  ['half a surrogate pair', 'INVALID_REQUEST', { ...send, text: 'x\ud83d' }],
  ['16,385 bytes', 'PAYLOAD_TOO_LARGE', { ...send, text: 'x'.repeat(maxTextBytes + 1) }],
  ['16,386 bytes in 5,462 characters', 'PAYLOAD_TOO_LARGE', { ...send, text: '語'.repeat(5462) }],
  ['an empty key', 'INVALID_REQUEST', { ...send, idempotencyKey: '' }],
  ['a key of 65', 'INVALID_REQUEST', { ...send, idempotencyKey: 'k'.repeat(65) }],
  ['a key with a newline', 'INVALID_REQUEST', { ...send, idempotencyKey: 'k\n' }],
  ['no answers', 'INVALID_REQUEST', { ...answer, answers: {} }],
  ['a list of answers', 'INVALID_REQUEST', { ...answer, answers: ['one'] }],
  ['an answer that is no string', 'INVALID_REQUEST', { ...answer, answers: { q: 1 } }],
  ['half a pair in a question', 'INVALID_REQUEST', { ...answer, answers: { '\udc00': 'x' } }],
  ['large answers', 'PAYLOAD_TOO_LARGE', { ...answer, answers: { q: '語'.repeat(5462) } }],
  ['NUL in an argument', 'INVALID_REQUEST', { ...launch, args: ['a\0b'] }],
  ['a variable named A=B', 'INVALID_REQUEST', { ...launch, env: { 'A=B': 'x' } }],
  ['a size of one cell', 'INVALID_REQUEST', { ...launch, cols: 1 }],
])('refuses %s as %s', (_what, code, value) => {
  expect(codeOf(value, 'm')).toBe(code);
});

test('16,384 bytes are not too many', () => {
  expect(codeOf({ ...send, text: 'x'.repeat(maxTextBytes) })).toBe('ok');
  expect(codeOf({ ...send, text: `${'語'.repeat(5461)}x` })).toBe('ok');
});

test('fields that would vanish in copying are refused', () => {
  const hidden = JSON.parse(`{"__proto__":{"x":1},${JSON.stringify(send).slice(1)}`) as unknown;
  expect(codeOf(hidden)).toBe('INVALID_REQUEST');
  const inAnswers = JSON.parse(JSON.stringify(answer).replace('"Which"', '"__proto__"')) as unknown;
  expect(codeOf(inAnswers)).toBe('INVALID_REQUEST');
});

test('operations the connection may not call are refused before their fields', () => {
  const parsed = parseRequest({ ...launch, extra: 1 }, { operations: ['turn.send'] });
  expect(parsed).toMatchObject({ requestId, error: { code: 'UNSUPPORTED_CAPABILITY' } });
});

describe('the order of checks', () => {
  const wrong: Record<string, unknown> = {
    type: 'turn.send',
    requestId: 'x',
    extra: 1,
    focusRevision: 'now',
    machineId: '',
    agentId: 'a',
    text: ' ',
    idempotencyKey: '',
  };
  const steps: [string, Record<string, unknown>, RegExp][] = [
    ['requestId', {}, /requestId/],
    ['unknown field', { requestId }, /unknown field extra/],
    ['focusRevision', { extra: undefined }, /focusRevision/],
    ['target', { focusRevision: 1 }, /machine and an agent/],
    ['machine', { machineId: 'm2' }, /another machine/],
    ['text', { machineId: 'm' }, /text/],
    ['key', { text: 'x' }, /idempotencyKey/],
  ];
  test('mends one field at a time', () => {
    const seen: unknown[] = [];
    for (const [, mended, message] of steps) {
      Object.assign(wrong, mended);
      if (wrong.extra === undefined) delete wrong.extra;
      const parsed = parseRequest(wrong, { machineId: 'm' });
      if (parsed.kind !== 'refused') throw new Error('should be refused');
      expect(parsed.error.message).toMatch(message);
      seen.push(parsed.error.code);
    }
    expect(seen).toEqual([
      'INVALID_REQUEST',
      'INVALID_REQUEST',
      'INVALID_REQUEST',
      'MISSING_TARGET',
      'MACHINE_MISMATCH',
      'INVALID_REQUEST',
      'INVALID_REQUEST',
    ]);
  });
});
