import { type RequestErrorCode, requestErrorMeanings } from '@ostler/protocol';
import { isCoded } from '@ostler/runtime';

/** Coded failures that say that the request was wrong, beside those the contract names itself. */
const refusedCodes: ReadonlySet<string> = new Set([
  'ENGINE_UNKNOWN',
  'ENGINE_NOT_FOUND',
  'ENGINE_VERSION_UNSUPPORTED',
  'NAME_TAKEN',
  'PTY_SPAWN_FAILED',
  'PTY_BAD_SIZE',
  'PTY_BAD_CWD',
  'PTY_NOT_EXECUTABLE',
  'CAST_EXISTS',
  'CAST_UNWRITABLE',
  'RECEIPT_NOT_FOUND',
  'VIEW_NOT_FOUND',
  'LAUNCH_TOO_LARGE',
]);
const fullCodes: ReadonlySet<string> = new Set(['TOO_MANY_AGENTS', 'CLOSED', 'CONTROL_BUSY']);

/** A failure in the contract's codes; the house's own code goes along as `detail`. */
export function wireError(failure: unknown): {
  readonly code: RequestErrorCode;
  readonly message: string;
  readonly detail?: string;
} {
  if (!isCoded(failure)) return { code: 'INTERNAL', message: requestErrorMeanings.INTERNAL };
  const { code, message } = failure;
  if (Object.hasOwn(requestErrorMeanings, code)) return { code: code as RequestErrorCode, message };
  if (refusedCodes.has(code)) return { code: 'INVALID_REQUEST', message, detail: code };
  if (fullCodes.has(code)) return { code: 'BACKPRESSURE', message, detail: code };
  return { code: 'INTERNAL', message: requestErrorMeanings.INTERNAL, detail: code };
}
