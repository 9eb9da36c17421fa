import { isCoded } from '@ostler/runtime';
import type { Notification, Notifier, Submission } from './notifier.js';
import type { Peer } from './rows.js';

/** A terminal that Ostler owns, in which a peer's session runs. */
export interface OwnedTerminal {
  readonly agentId: string;
  readonly engine: string;
  readonly version: string | null;
}

/** What became of a typed pointer, as its receipt says. */
export interface TypedPointer {
  /** Null where no answer came. */
  readonly deliveryId: string | null;
  /**
   * `accepted`: it left the composer or is in the engine's record. `rejected`: it was not and
   * will not be submitted. `open`: neither, within the time there was, or nobody said.
   */
  readonly outcome: 'accepted' | 'rejected' | 'open';
  /** The receipt's error code where it has one. */
  readonly reason: string | null;
}

/** An engine's session, as the registry has it now. */
export interface TerminalSession {
  readonly engine: string;
  readonly sessionId: string;
}

/** The sessions an Ostler runs; injected by whoever has the registry. */
export interface OwnedTerminals {
  /**
   * The terminal of exactly this session, or null. Sends nothing. Throws CodedError where the
   * registry can't be asked.
   */
  find(peer: Peer): Promise<OwnedTerminal | null>;
  /** The session in the terminal of this agent now, or null. Errors as in `find`. */
  sessionOf(agentId: string): Promise<TerminalSession | null>;
  /**
   * `turn.send` under the message's id as idempotency key, so that it is typed at most once.
   * Throws CodedError where the request was refused: then nothing was typed. An answer that did
   * not come is `open`.
   */
  type(
    terminal: OwnedTerminal,
    messageId: string,
    text: string,
    signal?: AbortSignal,
  ): Promise<TypedPointer>;
}

/** Into a terminal Ostler owns where the peer's session has one, by `otherwise` where it hasn't. */
export class TerminalNotifier implements Notifier {
  readonly #terminals: OwnedTerminals;
  readonly #otherwise: Notifier;

  constructor(terminals: OwnedTerminals, otherwise: Notifier) {
    this.#terminals = terminals;
    this.#otherwise = otherwise;
  }

  async notify(notification: Notification, signal?: AbortSignal): Promise<Submission> {
    const terminal = await findOwned(this.#terminals, notification.peer);
    if (terminal === null) return await this.#otherwise.notify(notification, signal);
    try {
      const typed = await this.#terminals.type(
        terminal,
        notification.messageId,
        notification.text,
        signal,
      );
      return submissionOf(typed);
    } catch (failure) {
      if (isCoded(failure))
        return { submission: 'not_submitted', detail: `ostler:${failure.code}` };
      throw failure;
    }
  }
}

/** A registry that can't be asked owns nothing, as far as is known; the engine's door remains. */
export async function findOwned(
  terminals: OwnedTerminals,
  peer: Peer,
): Promise<OwnedTerminal | null> {
  try {
    return await terminals.find(peer);
  } catch (failure) {
    if (isCoded(failure)) return null;
    throw failure;
  }
}

function submissionOf(typed: TypedPointer): Submission {
  const { deliveryId, outcome, reason } = typed;
  switch (outcome) {
    case 'accepted':
      return { submission: 'submitted', detail: `ostler_accepted:${deliveryId ?? ''}` };
    case 'rejected':
      return {
        submission: 'not_submitted',
        detail: `ostler_rejected:${reason ?? deliveryId ?? ''}`,
      };
    case 'open':
      return {
        submission: 'submission_unknown',
        detail: `ostler_open:${reason ?? deliveryId ?? ''}`,
      };
  }
}
