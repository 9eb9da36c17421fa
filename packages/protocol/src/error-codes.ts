import type { ReceiptErrorCode } from './receipt.js';

/** Why a request was refused; one line each for a person. */
export const requestErrorMeanings = {
  INVALID_REQUEST: 'The request has a wrong or an unknown field; correct it before sending again.',
  HELLO_REQUIRED: 'The first request on a connection must be hello.',
  PROTO_UNSUPPORTED: 'This server does not speak that version of the protocol.',
  UNAUTHENTICATED: 'The connection brought no valid token.',
  UNSUPPORTED_CAPABILITY: 'This server has no such operation, or it was not negotiated in hello.',
  MISSING_TARGET: 'The request must name a machine and an agent.',
  MACHINE_MISMATCH: 'The request names another machine than the one it reached.',
  AGENT_NOT_FOUND: 'No such agent runs here.',
  NO_AGENTS: 'No agent runs here.',
  FOCUS_UNAVAILABLE: 'No agent has the focus.',
  FOCUS_CHANGED: 'The focus moved since the request was made; nothing was done.',
  PAYLOAD_TOO_LARGE: 'The text is larger than allowed; it is never cut.',
  QUESTION_STALE: 'That question is no longer open; nothing was typed.',
  IDEMPOTENCY_CONFLICT: 'The idempotency key was used before for another request; take a new one.',
  BACKPRESSURE:
    'Too much is unresolved, or the server is being stopped; nothing was claimed, try again later.',
  RATE_LIMITED: 'Too many requests in a short time; slow down.',
  SUBSCRIPTION_LIMIT: 'This connection has as many subscriptions as it may.',
  REVOKED: "The device's pairing was revoked.",
  INTERNAL: 'The server failed; its log says why.',
} as const;

export type RequestErrorCode = keyof typeof requestErrorMeanings;

/** Why a receipt is `unknown` or `rejected`. A hold's name may stand here too and is not listed. */
export const receiptErrorMeanings = {
  NOT_CONFIRMED: 'No evidence came that the engine took the input.',
  OVERLAPPING_INPUTS: 'Turns overlapped, so the end of one cannot be tied to one input.',
  RESULT_EVIDENCE_MISSING: "The engine's record does not tie a result to this input.",
  RESULT_NOT_COMPLETED: 'The turn ended, but not by completing.',
  TURN_INTERRUPTED: 'The turn was interrupted.',
  AGENT_GONE: 'The agent ended before the outcome could be known.',
  DAEMON_RESTART: 'The server was restarted while this was in flight.',
  REVOKED: "The device's pairing was revoked.",
  INTERNAL: 'The server failed; its log says why.',
  agent_gone: 'The agent ended before anything was written.',
  queue_full: "The agent's queue is full; nothing was written.",
  queue_expired: 'It waited too long in the queue; nothing was written.',
  cancelled: 'It was cancelled before anything was written.',
  runtime_gone_pre_paste: "The agent's process was gone before the paste; nothing was written.",
  runtime_gone_post_paste: "The agent's process went away after the paste.",
  paste_failed: 'The text did not appear in the composer; Enter was not pressed.',
  enter_withheld: 'The text was pasted, but Enter was not pressed.',
  dispatch_ambiguous: 'It cannot be told whether the terminal carried out the writes.',
  input_acceptance_unconfirmed: 'Enter was pressed, but nothing shows that the input was taken.',
  not_submitted: 'The input was not submitted.',
  prompt_mismatch: 'The engine took another text than the one sent.',
  cancelled_after_paste: 'It was cancelled after the paste; Enter was not pressed.',
  body_refused: 'No form of the text keeps its meaning in this engine; nothing was written.',
} as const;

export type ListedReceiptErrorCode = keyof typeof receiptErrorMeanings;

/** One line for a person. `enter_withheld:<hold>` and holds' names get the general line. */
export function receiptErrorMeaning(code: ReceiptErrorCode): string {
  if (Object.hasOwn(receiptErrorMeanings, code)) {
    return receiptErrorMeanings[code as ListedReceiptErrorCode];
  }
  if (code.startsWith('enter_withheld:')) return receiptErrorMeanings.enter_withheld;
  return `The agent's screen did not allow typing (${code}).`;
}
