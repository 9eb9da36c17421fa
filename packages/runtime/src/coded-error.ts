/**
 * The one base of every error the house throws. Callers tell errors apart by
 * `code`, a literal that is part of the public surface; messages are for people
 * and say what to do next.
 */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: Code,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CodedError';
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** True when `error` is a CodedError, with one of `codes` if any are given. */
export function isCoded<Code extends string>(
  error: unknown,
  ...codes: Code[]
): error is CodedError<Code> {
  return error instanceof CodedError && (codes.length === 0 || codes.includes(error.code as Code));
}
