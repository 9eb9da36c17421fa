import type { z } from 'zod';
import { type RequestErrorCode, requestErrorMeanings } from './error-codes.js';
import { requestSchemas } from './request-schemas.js';
import type { Operation, OstlerRequest } from './requests.js';

export interface RequestError {
  readonly code: RequestErrorCode;
  /** For a person: which field, and what is wrong with it. Carries no value of the request. */
  readonly message: string;
}

export type ParsedRequest =
  | { readonly kind: 'request'; readonly request: OstlerRequest }
  /** `requestId` is null where the request has none an answer could carry. */
  | { readonly kind: 'refused'; readonly requestId: string | null; readonly error: RequestError };

export interface ParseOptions {
  /** The machine that was reached; another one in the request is MACHINE_MISMATCH. */
  readonly machineId?: string;
  /** The operations this connection may call; all where left out. */
  readonly operations?: readonly Operation[];
}

type Issue = z.core.$ZodIssue;

/** The order of the checks; a field that isn't here comes last but the key. */
const targetStep = 2;
const fieldSteps: Readonly<Record<string, number>> = {
  focusRevision: 1,
  machineId: targetStep,
  agentId: targetStep,
  idempotencyKey: 5,
};
const otherStep = 4;
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/**
 * Checks one request from outside, in this order: requestId, operation, unknown fields,
 * focusRevision, target, machine, text and size, key. The first that fails is the answer.
 * Pure; never throws; the result shares nothing with `value`.
 */
export function parseRequest(value: unknown, options: ParseOptions = {}): ParsedRequest {
  if (!isRecord(value)) return refused(null, 'INVALID_REQUEST', 'a request is a JSON object');
  const { requestId, type } = value;
  if (typeof requestId !== 'string' || !uuidV4.test(requestId)) {
    return refused(null, 'INVALID_REQUEST', 'requestId must be a UUIDv4');
  }
  if (typeof type !== 'string') {
    return refused(requestId, 'INVALID_REQUEST', 'type must name an operation');
  }
  if (!isOperation(type) || options.operations?.includes(type) === false) {
    return refused(
      requestId,
      'UNSUPPORTED_CAPABILITY',
      requestErrorMeanings.UNSUPPORTED_CAPABILITY,
    );
  }
  const hidden = hiddenKeyPath(value);
  if (hidden !== null) return refused(requestId, 'INVALID_REQUEST', `unknown field ${hidden}`);

  const parsed = requestSchemas[type].safeParse(value);
  const issue = parsed.success ? undefined : firstIssue(parsed.error.issues);
  const elsewhere = options.machineId !== undefined && value.machineId !== options.machineId;
  if (elsewhere && 'machineId' in value && (!issue || stepOf(issue) > targetStep)) {
    return refused(requestId, 'MACHINE_MISMATCH', requestErrorMeanings.MACHINE_MISMATCH);
  }
  if (issue) return refused(requestId, codeOf(issue), messageOf(issue));
  if (!parsed.success) throw parsed.error;
  return { kind: 'request', request: parsed.data };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOperation(type: string): type is Operation {
  return Object.hasOwn(requestSchemas, type);
}

/** A field named `__proto__` (JSON can make one) would get lost in copying, so it is looked for here. */
function hiddenKeyPath(value: Record<string, unknown>): string | null {
  if (Object.hasOwn(value, '__proto__')) return '__proto__';
  for (const [key, field] of Object.entries(value)) {
    if (isRecord(field) && Object.hasOwn(field, '__proto__')) return `${key}.__proto__`;
  }
  return null;
}

function stepOf(issue: Issue): number {
  if (issue.code === 'unrecognized_keys') return 0;
  return fieldSteps[String(issue.path[0])] ?? otherStep;
}

function firstIssue(issues: readonly Issue[]): Issue | undefined {
  let first: Issue | undefined;
  for (const issue of issues) {
    if (first === undefined || stepOf(issue) < stepOf(first)) first = issue;
  }
  return first;
}

function codeOf(issue: Issue): RequestErrorCode {
  if (stepOf(issue) === targetStep) return 'MISSING_TARGET';
  if (issue.code === 'custom' && issue.params?.code === 'PAYLOAD_TOO_LARGE') {
    return 'PAYLOAD_TOO_LARGE';
  }
  const sized = ['text', 'args', 'data'].includes(String(issue.path[0]));
  return issue.code === 'too_big' && sized ? 'PAYLOAD_TOO_LARGE' : 'INVALID_REQUEST';
}

function messageOf(issue: Issue): string {
  if (issue.code === 'unrecognized_keys')
    return `unknown field ${issue.keys.slice(0, 3).join(', ')}`;
  const field = String(issue.path[0] ?? 'request');
  if (stepOf(issue) === targetStep) return requestErrorMeanings.MISSING_TARGET;
  return `${field}: ${issue.message}`;
}

function refused(requestId: string | null, code: RequestErrorCode, message: string): ParsedRequest {
  return { kind: 'refused', requestId, error: { code, message } };
}
