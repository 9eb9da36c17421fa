import { z } from 'zod';
import type { EngineEvent } from '../engine-event.js';

const part = z.object({ type: z.string(), text: z.string().optional() });

const userMessageItem = z.object({
  type: z.literal('UserMessage'),
  id: z.string(),
  content: z.array(part),
});

const line = z.object({
  timestamp: z.string(),
  type: z.string(),
  payload: z.object({ type: z.string().optional() }).loose(),
});

const sessionMeta = z.object({
  id: z.string(),
  cwd: z.string().optional(),
  cli_version: z.string().optional(),
  thread_source: z.string().nullish(),
});
const itemCompleted = z.object({ turn_id: z.string().nullish(), item: userMessageItem });
const userMessage = z.object({ message: z.string() });
const taskStarted = z.object({ turn_id: z.string().nullish() });
const taskComplete = z.object({
  turn_id: z.string().nullish(),
  last_agent_message: z.string().nullish(),
  /** There for a turn that failed (0.169.0). */
  error: z.object({}).loose().nullish(),
});
const turnAborted = z.object({ turn_id: z.string().nullish() });

export interface RecordOwner {
  readonly threadId: string;
  readonly cwd: string | null;
  /** A thread a person's prompts go into, not one the engine made for itself. */
  readonly isUsers: boolean;
}

/** The first line of a rollout file, or null for any other. */
export function readRecordOwner(value: unknown): RecordOwner | null {
  const entry = line.safeParse(value);
  if (!entry.success || entry.data.type !== 'session_meta') return null;
  const meta = sessionMeta.safeParse(entry.data.payload);
  if (!meta.success) return null;
  const source = meta.data.thread_source ?? 'user';
  return { threadId: meta.data.id, cwd: meta.data.cwd ?? null, isUsers: source === 'user' };
}

/**
 * Turns the lines of one rollout file, in order, into events. A prompt is there
 * as `item_completed` with a `UserMessage` (codex 0.156.1, 0.169.0) or as a
 * `user_message` event (older): the first form met is the file's form, so that a
 * version that writes both isn't counted twice.
 */
export class CodexRecordReader {
  #form: 'item' | 'event' | null = null;
  #turnRef: string | null = null;
  #turnFailed = false;
  readonly #inputRefs: string[] = [];

  /** `offset` is the line's place in the file, the reference of a prompt without an id. */
  read(value: unknown, offset: number): EngineEvent[] {
    const entry = line.safeParse(value);
    if (!entry.success || entry.data.type !== 'event_msg') return [];
    const atMs = Date.parse(entry.data.timestamp);
    if (Number.isNaN(atMs)) return [];
    const { payload } = entry.data;
    switch (payload.type) {
      case 'task_started':
      case 'turn_started':
        return this.#started(payload, atMs);
      case 'item_completed':
        return this.#item(payload, atMs);
      case 'user_message':
        return this.#message(payload, atMs, offset);
      case 'error':
        this.#turnFailed = true;
        return [];
      case 'task_complete':
      case 'turn_complete':
        return this.#complete(payload, atMs);
      case 'turn_aborted':
        return this.#aborted(payload, atMs);
      default:
        return [];
    }
  }

  #started(payload: unknown, atMs: number): EngineEvent[] {
    const started = taskStarted.safeParse(payload);
    if (!started.success) return [];
    this.#turnRef = started.data.turn_id ?? null;
    this.#turnFailed = false;
    this.#inputRefs.length = 0;
    return [{ kind: 'turn_started', turnRef: this.#turnRef, atMs }];
  }

  #item(payload: unknown, atMs: number): EngineEvent[] {
    const done = itemCompleted.safeParse(payload);
    if (!done.success || this.#form === 'event') return [];
    this.#form = 'item';
    const { item } = done.data;
    const texts = item.content.filter((piece) => piece.type === 'text' && piece.text !== undefined);
    const text = texts.map((piece) => piece.text).join('\n');
    return this.#consumed(text, item.id, done.data.turn_id ?? this.#turnRef, atMs);
  }

  #message(payload: unknown, atMs: number, offset: number): EngineEvent[] {
    const message = userMessage.safeParse(payload);
    if (!message.success || this.#form === 'item') return [];
    this.#form = 'event';
    return this.#consumed(message.data.message, `line:${offset}`, this.#turnRef, atMs);
  }

  #consumed(text: string, inputRef: string, turnRef: string | null, atMs: number): EngineEvent[] {
    // Only what the record itself puts into this turn may be tied to its end.
    if (turnRef === this.#turnRef) this.#inputRefs.push(inputRef);
    return [{ kind: 'input_consumed', text, evidence: 'record', inputRef, turnRef, atMs }];
  }

  #complete(payload: unknown, atMs: number): EngineEvent[] {
    const done = taskComplete.safeParse(payload);
    if (!done.success) return [];
    const finalText = done.data.last_agent_message ?? null;
    const failed = (done.data.error ?? null) !== null || (this.#turnFailed && finalText === null);
    return [this.#ended(done.data.turn_id, failed ? 'failed' : 'completed', finalText, atMs)];
  }

  #aborted(payload: unknown, atMs: number): EngineEvent[] {
    const aborted = turnAborted.safeParse(payload);
    if (!aborted.success) return [];
    return [this.#ended(aborted.data.turn_id, 'cancelled', null, atMs)];
  }

  #ended(
    turnId: string | null | undefined,
    outcome: 'completed' | 'failed' | 'cancelled',
    finalText: string | null,
    atMs: number,
  ): EngineEvent {
    const turnRef = turnId ?? this.#turnRef;
    const inputRefs = turnRef === this.#turnRef ? this.#inputRefs.splice(0) : [];
    return { kind: 'turn_ended', turnRef, outcome, inputRefs, finalText, atMs };
  }
}
