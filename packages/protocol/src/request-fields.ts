import { z } from 'zod';
import {
  idempotencyKeyPattern,
  maxAnswersBytes,
  maxAnswersCount,
  maxColumnsCells,
  maxDeviceNameCharacters,
  maxInputBytes,
  maxLaunchEnvCount,
  maxLaunchStringBytes,
  maxNameCharacters,
  maxRowsCells,
  maxTextBytes,
  minColumnsCells,
  minRowsCells,
} from './constants.js';
import type { RequestErrorCode } from './error-codes.js';
import { fitsUtf8, isBlank, isWellFormed, utf8Bytes } from './text-rules.js';

const tooLarge = { code: 'PAYLOAD_TOO_LARGE' } satisfies { code: RequestErrorCode };

const wellFormed = z.string().refine(isWellFormed, {
  error: 'has half of a surrogate pair, which no UTF-8 text can hold',
});
export const name: z.ZodType<string> = wellFormed.min(1).max(maxNameCharacters);
export const requestId: z.ZodType<string> = z.uuidv4();
export const idempotencyKey: z.ZodType<string> = z.string().regex(idempotencyKeyPattern);
export const focusRevision: z.ZodExactOptional<z.ZodInt> = z.int().min(0).exactOptional();

export const text: z.ZodType<string> = z
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

export const answers: z.ZodType<Record<string, string>> = z
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
export const launchString: z.ZodString = wellFormed
  .refine((value) => !value.includes('\0'), { error: 'has a NUL character' })
  .refine((value) => fitsUtf8(value, maxLaunchStringBytes), {
    error: `is larger than ${maxLaunchStringBytes} bytes in UTF-8`,
    params: tooLarge,
  });
export const environment: z.ZodType<Record<string, string>> = z
  .record(launchString.regex(/^[^=]+$/), launchString)
  .refine((value) => Object.keys(value).length <= maxLaunchEnvCount, {
    error: `has more than ${maxLaunchEnvCount} variables`,
    params: tooLarge,
  });
export const cols: z.ZodInt = z.int().min(minColumnsCells).max(maxColumnsCells);
export const rows: z.ZodInt = z.int().min(minRowsCells).max(maxRowsCells);

/** Which machine and agent. */
export const target: {
  readonly machineId: z.ZodType<string>;
  readonly agentId: z.ZodType<string>;
} = {
  machineId: name,
  agentId: name,
};

/** Bytes in base64, at most `maxInputBytes` of them. */
export const inputData: z.ZodType<string> = z
  .base64()
  .max(Math.ceil(maxInputBytes / 3) * 4)
  .refine((value) => value.length > 0, { error: 'is empty' });

/** A device's name, as people see it. */
export const deviceName: z.ZodType<string> = wellFormed.min(1).max(maxDeviceNameCharacters);
