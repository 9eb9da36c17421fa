import type { IdentityEvidence, Submission } from './mail-door.js';

/** Ends an identity check; `reason` is a stable word, `message` says what to do. */
export class Refusal extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A check's result, whatever it threw. */
export async function evidenceOf(
  check: () => Promise<Readonly<Record<string, string>>>,
): Promise<IdentityEvidence> {
  try {
    return { kind: 'found', evidence: await check() };
  } catch (failure) {
    return { kind: 'refused', reason: wordOf(failure), message: messageOf(failure) };
  }
}

export function notSubmitted(detail: string): Submission {
  return { submission: 'not_submitted', detail };
}

export function unknownSubmission(detail: string): Submission {
  return { submission: 'submission_unknown', detail };
}

export function submitted(detail: string): Submission {
  return { submission: 'submitted', detail };
}

/** A stable word for what went wrong: our own, a system code, or the error's class. */
export function wordOf(failure: unknown): string {
  if (failure instanceof Refusal) return failure.reason;
  if (!(failure instanceof Error)) return 'failed';
  const { code } = failure as { code?: unknown };
  return typeof code === 'string' ? code : failure.name;
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
