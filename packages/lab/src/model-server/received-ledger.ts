import type { ModelRequest } from './model-request.js';

const maxPrompts = 20_000;

export interface ReceivedText {
  readonly text: string;
  /** How many separate times it was submitted. */
  readonly count: number;
}

export interface ReceivedPrompt {
  readonly session: string;
  readonly text: string;
  readonly raw: readonly string[];
  /** Number of the request that showed it first. */
  readonly requestNumber: number;
}

interface Conversation {
  /** Counted before the history was cut (compaction, /clear, rewind). */
  readonly settled: Map<string, number>;
  /** What the first request after the cut carried over. */
  carried: Map<string, number>;
  current: Map<string, number>;
  /** The input the history begins with. */
  first: string | undefined;
}

/**
 * Counts what people said, exactly. Every request repeats its conversation, so a text's
 * count is the most often it stood in one request of that conversation; when a history
 * shrinks or begins anew (compaction, /clear, rewind), what stood in the old one is kept and what the new one carries over isn't
 * counted again.
 */
export class ReceivedLedger {
  readonly #conversations = new Map<string, Conversation>();
  readonly #prompts: ReceivedPrompt[] = [];

  /** Takes one request; returns the prompts it showed for the first time. */
  take(request: ModelRequest, requestNumber: number): readonly ReceivedPrompt[] {
    if (request.side !== null) return [];
    const conversation = this.#conversation(request.session);
    const counts = countOf(request.inputs.map((input) => input.text));
    const known = totals(conversation);
    const first = request.inputs[0]?.text;
    if (!covers(counts, conversation.current) || first !== (conversation.first ?? first)) {
      conversation.settled.clear();
      for (const [text, count] of known) conversation.settled.set(text, count);
      const old = countOf(
        request.inputs.filter((input) => !input.fresh).map((input) => input.text),
      );
      conversation.carried = atMost(old, known);
      conversation.current = new Map();
    }
    conversation.first = first;
    for (const [text, count] of counts) {
      conversation.current.set(text, Math.max(count, conversation.current.get(text) ?? 0));
    }
    return this.#announce(request, requestNumber, known, totals(conversation));
  }

  received(): readonly ReceivedText[] {
    const all = new Map<string, number>();
    for (const conversation of this.#conversations.values()) {
      for (const [text, count] of totals(conversation)) all.set(text, count + (all.get(text) ?? 0));
    }
    return [...all].map(([text, count]) => ({ text, count }));
  }

  /** In the order they were first seen. */
  prompts(): readonly ReceivedPrompt[] {
    return [...this.#prompts];
  }

  #conversation(session: string): Conversation {
    let found = this.#conversations.get(session);
    if (!found) {
      found = { settled: new Map(), carried: new Map(), current: new Map(), first: undefined };
      this.#conversations.set(session, found);
    }
    return found;
  }

  #announce(
    request: ModelRequest,
    requestNumber: number,
    before: ReadonlyMap<string, number>,
    after: ReadonlyMap<string, number>,
  ): readonly ReceivedPrompt[] {
    const missing = new Map<string, number>();
    for (const [text, count] of after) missing.set(text, count - (before.get(text) ?? 0));
    const fresh: ReceivedPrompt[] = [];
    for (const input of [...request.inputs].reverse()) {
      const left = missing.get(input.text) ?? 0;
      if (left <= 0) continue;
      missing.set(input.text, left - 1);
      fresh.unshift({ session: request.session, text: input.text, raw: input.raw, requestNumber });
    }
    this.#prompts.push(...fresh);
    if (this.#prompts.length > maxPrompts) {
      this.#prompts.splice(0, this.#prompts.length - maxPrompts);
    }
    return fresh;
  }
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function covers(
  larger: ReadonlyMap<string, number>,
  smaller: ReadonlyMap<string, number>,
): boolean {
  return [...smaller].every(([text, count]) => (larger.get(text) ?? 0) >= count);
}

function atMost(
  counts: ReadonlyMap<string, number>,
  limit: ReadonlyMap<string, number>,
): Map<string, number> {
  const result = new Map<string, number>();
  for (const [text, count] of counts) result.set(text, Math.min(count, limit.get(text) ?? 0));
  return result;
}

function totals(conversation: Conversation): Map<string, number> {
  const result = new Map(conversation.settled);
  for (const [text, count] of conversation.current) {
    const added = Math.max(0, count - (conversation.carried.get(text) ?? 0));
    result.set(text, (result.get(text) ?? 0) + added);
  }
  return result;
}
