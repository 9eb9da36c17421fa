import type { OpenQuestion, Reading } from '@ostler/engines';
import type { Ids } from '@ostler/runtime';

/** A question with the id callers answer it by. */
export interface TrackedQuestion {
  readonly requestId: string;
  readonly question: OpenQuestion;
}

export type QuestionChange =
  | { readonly kind: 'opened'; readonly opened: TrackedQuestion; readonly closed: string | null }
  | { readonly kind: 'closed'; readonly closed: string };

/** Gives each question that comes up an id of its own, even when its words were seen before. */
export class QuestionTracker {
  readonly #ids: Ids;
  #current: TrackedQuestion | null = null;

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  get current(): TrackedQuestion | null {
    return this.#current;
  }

  /** What this reading changes. An unreadable screen changes nothing: the question may still stand. */
  see(reading: Reading): QuestionChange | null {
    if (!reading.readable) return null;
    const { question } = reading;
    const before = this.#current;
    if (question === null) {
      this.#current = null;
      return before && { kind: 'closed', closed: before.requestId };
    }
    if (before?.question.fingerprint === question.fingerprint) return null;
    this.#current = { requestId: this.#ids.uuid(), question };
    return { kind: 'opened', opened: this.#current, closed: before?.requestId ?? null };
  }

  /** The agent ended. */
  clear(): string | null {
    const closed = this.#current?.requestId ?? null;
    this.#current = null;
    return closed;
  }
}
