import { z } from 'zod';
import {
  idempotencyKeyPattern,
  maxAnswersBytes,
  maxAnswersCount,
  maxColumnsCells,
  maxLaunchArgsCount,
  maxLaunchEnvCount,
  maxLaunchStringBytes,
  maxNameCharacters,
  maxRowsCells,
  maxTextBytes,
  maxWaitMs,
  minColumnsCells,
  minRowsCells,
} from './constants.js';
import type { RequestErrorCode } from './error-codes.js';
import type { Operation, RequestOf } from './requests.js';
import { fitsUtf8, isBlank, isWellFormed, utf8Bytes } from './text-rules.js';

const tooLarge = { code: 'PAYLOAD_TOO_LARGE' } satisfies { code: RequestErrorCode };

const wellFormed = z.string().refine(isWellFormed, {
  error: 'has half of a surrogate pair, which no UTF-8 text can hold',
});
const name = wellFormed.min(1).max(maxNameCharacters);
const requestId = z.uuidv4();
const idempotencyKey = z.string().regex(idempotencyKeyPattern);
const focusRevision = z.int().min(0).exactOptional();

const text = z
  .string()
  .max(maxTextBytes)
  .refine((value) => fitsUtf8(value, maxTextBytes), {
    error: `is larger than ${maxTextBytes} bytes in UTF-8`,
    params: tooLarge,
  })
  .refine(isWellFormed, { error: 'has half of a surrogate pair, which no UTF-8 text can hold' })
  .refine((value) => !isBlank(value), { error: 'is blank' });

function answersFit(answers: Readonly<Record<string, string>>): boolean {
  let bytes = 0;
  for (const [question, answer] of Object.entries(answers)) {
    bytes += utf8Bytes(question) + utf8Bytes(answer);
  }
  return bytes <= maxAnswersBytes;
}

const answers = z
  .record(wellFormed, wellFormed)
  .refine((value) => Object.keys(value).length > 0, { error: 'has no answer' })
  .refine((value) => Object.keys(value).length <= maxAnswersCount, {
    error: `has more than ${maxAnswersCount} answers`,
    params: tooLarge,
  })
  .refine(answersFit, {
    error: `is larger than ${maxAnswersBytes} bytes in UTF-8`,
    params: tooLarge,
  });

/** What the kernel takes as an argument, a path or an environment value. */
const launchString = wellFormed
  .refine((value) => !value.includes('\0'), { error: 'has a NUL character' })
  .refine((value) => fitsUtf8(value, maxLaunchStringBytes), {
    error: `is larger than ${maxLaunchStringBytes} bytes in UTF-8`,
    params: tooLarge,
  });
const environment = z
  .record(launchString.regex(/^[^=]+$/), launchString)
  .refine((value) => Object.keys(value).length <= maxLaunchEnvCount, {
    error: `has more than ${maxLaunchEnvCount} variables`,
    params: tooLarge,
  });
const cols = z.int().min(minColumnsCells).max(maxColumnsCells);
const rows = z.int().min(minRowsCells).max(maxRowsCells);

const target = { machineId: name, agentId: name };

/** Strict: a request with a field that isn't here is refused. */
export const requestSchemas: { readonly [Name in Operation]: z.ZodType<RequestOf<Name>> } = {
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
  'agent.launch': z.strictObject({
    type: z.literal('agent.launch'),
    requestId,
    name,
    engine: name,
    command: launchString.min(1).exactOptional(),
    args: z.array(launchString).max(maxLaunchArgsCount).exactOptional(),
    cwd: launchString.min(1),
    env: environment.exactOptional(),
    cleanEnv: z.boolean().exactOptional(),
    cols: cols.exactOptional(),
    rows: rows.exactOptional(),
  }),
  'agent.close': z.strictObject({ type: z.literal('agent.close'), requestId, ...target }),
  'agent.resize': z.strictObject({
    type: z.literal('agent.resize'),
    requestId,
    ...target,
    cols,
    rows,
  }),
};
