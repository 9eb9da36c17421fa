import { z } from 'zod';
import type { EngineEvent } from '../engine-event.js';
import { type CodexTurn, CodexTurns } from './turns.js';

/** Words of one turn's end that are kept; no result may be longer. */
const maxLastWordsCharacters = 65_536;

const part = z.object({ type: z.string(), text: z.string().optional() });

const userMessageItem = z.object({
  type: z.literal('UserMessage'),
  id: z.string(),
  content: z.array(part),
});

const agentMessageItem = z.object({
  type: z.literal('AgentMessage'),
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
const itemCompleted = z.object({
  turn_id: z.string().nullish(),
  item: z.discriminatedUnion('type', [userMessageItem, agentMessageItem]),
});
const userMessage = z.object({ message: z.string(), turn_id: z.string().nullish() });
const agentMessage = z.object({ message: z.string(), turn_id: z.string().nullish() });
const toolCall = z.object({
  type: z.enum(['function_call', 'custom_tool_call']),
  call_id: z.string(),
  name: z.string(),
});
const toolOutput = z.object({
  type: z.enum(['function_call_output', 'custom_tool_call_output']),
  call_id: z.string(),
});
const errorEvent = z.object({ message: z.string().nullish(), turn_id: z.string().nullish() });
const taskStarted = z.object({ turn_id: z.string().nullish() });
const taskComplete = z.object({
  turn_id: z.string().nullish(),
  last_agent_message: z.string().nullish(),
  /** There for a turn that failed (0.169.0). */
  error: z.object({ message: z.string().nullish() }).loose().nullish(),
});
const turnAborted = z.object({ turn_id: z.string().nullish() });

/** Prompts remembered, so that none told twice is taken for two; the oldest go first. */
const maxKnownPrompts = 10_000;

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

type Outcome = 'completed' | 'failed' | 'cancelled';

/**
 * Turns the lines of one rollout file, in order, into events. A prompt is there
 * as `item_completed` with a `UserMessage` (codex 0.156.1, 0.169.0) or as a
 * `user_message` event (older): the first form met is the file's form, so that a
 * version that writes both isn't counted twice. Only the turn's id that stands at the
 * prompt itself ties it to that turn's end; a prompt without one is tied by its place.
 */
export class CodexRecordReader {
  readonly #thread: string;
  readonly #turns = new CodexTurns();
  readonly #known = new Set<string>();
  #form: 'item' | 'event' | null = null;

  /** `thread` tells prompts without an id of several files apart. */
  constructor(thread = '') {
    this.#thread = thread === '' ? '' : `${thread}:`;
  }

  /** `offset` is the line's place in the file, the reference of a prompt without an id. */
  read(value: unknown, offset: number): EngineEvent[] {
    const entry = line.safeParse(value);
    if (!entry.success) return [];
    const atMs = Date.parse(entry.data.timestamp);
    if (Number.isNaN(atMs)) return [];
    const { payload } = entry.data;
    if (entry.data.type === 'response_item') return this.#tool(payload, atMs);
    if (entry.data.type !== 'event_msg') return [];
    switch (payload.type) {
      case 'task_started':
      case 'turn_started':
        return this.#started(payload, atMs);
      case 'item_completed':
        return this.#item(payload, atMs);
      case 'user_message':
        return this.#message(payload, atMs, offset);
      case 'agent_message':
        return this.#said(payload, atMs);
      case 'error':
        return this.#error(payload);
      case 'task_complete':
      case 'turn_complete':
        return this.#complete(payload, atMs);
      case 'turn_aborted':
        return this.#aborted(payload, atMs);
      default:
        return [];
    }
  }

  get #turnRef(): string | null {
    return this.#turns.current?.turnId ?? null;
  }

  #started(payload: unknown, atMs: number): EngineEvent[] {
    const started = taskStarted.safeParse(payload);
    if (!started.success) return [];
    const turnRef = started.data.turn_id ?? null;
    const given = this.#turns.start(turnRef);
    return [...untied(given, atMs), { kind: 'turn_started', turnRef, atMs }];
  }

  #item(payload: unknown, atMs: number): EngineEvent[] {
    const done = itemCompleted.safeParse(payload);
    if (!done.success) return [];
    const { item, turn_id: turnId } = done.data;
    const kind = item.type === 'UserMessage' ? 'text' : 'Text';
    const texts = item.content.filter((piece) => piece.type === kind && piece.text !== undefined);
    const text = texts.map((piece) => piece.text).join('\n');
    if (item.type === 'AgentMessage') return this.#words(text, turnId ?? null, atMs);
    if (this.#form === 'event') return [];
    this.#form = 'item';
    return this.#consumed(text, item.id, turnId ?? null, atMs);
  }

  #message(payload: unknown, atMs: number, offset: number): EngineEvent[] {
    const message = userMessage.safeParse(payload);
    if (!message.success || this.#form === 'item') return [];
    this.#form = 'event';
    const { message: text, turn_id: turnId } = message.data;
    return this.#consumed(text, `line:${this.#thread}${offset}`, turnId ?? null, atMs);
  }

  #consumed(text: string, inputRef: string, turnId: string | null, atMs: number): EngineEvent[] {
    if (this.#known.has(inputRef)) return [];
    this.#known.add(inputRef);
    if (this.#known.size > maxKnownPrompts) {
      const [oldest] = this.#known;
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    const turnRef = turnId ?? this.#turnRef;
    const consumed: EngineEvent = {
      kind: 'input_consumed',
      text,
      evidence: 'record',
      inputRef,
      turnRef,
      atMs,
    };
    // The turn's end has been read: nothing of what comes behind it can be answered by it.
    if (turnId !== null && this.#turns.hasEnded(turnId)) {
      return [consumed, ...untied([inputRef], atMs)];
    }
    const turn = turnId === null ? this.#turns.current : this.#turns.of(turnId);
    if (!turn) return [consumed, ...untied([inputRef], atMs)];
    if (turnId === null) turn.byOrder = true;
    return this.#turns.take(turn, inputRef) ? [consumed] : [consumed, ...untied([inputRef], atMs)];
  }

  #said(payload: unknown, atMs: number): EngineEvent[] {
    const message = agentMessage.safeParse(payload);
    // Versions with items write both; their items have the turn's id.
    if (!message.success || this.#form === 'item') return [];
    return this.#words(message.data.message, message.data.turn_id ?? null, atMs);
  }

  #words(text: string, turnId: string | null, atMs: number): EngineEvent[] {
    const known = turnId === null || !this.#turns.hasEnded(turnId);
    const turn = turnId === null || !known ? this.#turns.current : this.#turns.of(turnId);
    if (text === '') return [];
    if (turn && known) turn.lastWords = text.slice(0, maxLastWordsCharacters);
    return [{ kind: 'turn_text', turnRef: turnId ?? this.#turnRef, text, atMs }];
  }

  #tool(payload: unknown, atMs: number): EngineEvent[] {
    const turnRef = this.#turnRef;
    const call = toolCall.safeParse(payload);
    if (call.success) {
      const { call_id: toolId, name } = call.data;
      return [{ kind: 'turn_tool', turnRef, toolId, name, state: 'begun', atMs }];
    }
    const output = toolOutput.safeParse(payload);
    if (!output.success) return [];
    const { call_id: toolId } = output.data;
    return [{ kind: 'turn_tool', turnRef, toolId, name: null, state: 'ended', atMs }];
  }

  #error(payload: unknown): EngineEvent[] {
    const error = errorEvent.safeParse(payload);
    const turnId = (error.success ? error.data.turn_id : null) ?? null;
    const turn = turnId === null ? this.#turns.current : this.#turns.of(turnId);
    if (!turn) return [];
    turn.failed = true;
    if (error.success && error.data.message) {
      turn.lastWords = error.data.message.slice(0, maxLastWordsCharacters);
    }
    return [];
  }

  #complete(payload: unknown, atMs: number): EngineEvent[] {
    const done = taskComplete.safeParse(payload);
    if (!done.success) return [];
    const { error, last_agent_message: answer, turn_id: turnId } = done.data;
    if (this.#isRepeated(turnId)) return [];
    const turn = this.#turns.end(turnId ?? null);
    const failed = (error ?? null) !== null || (turn?.failed === true && (answer ?? null) === null);
    if (!failed) return this.#ended(turn, turnId, 'completed', answer ?? null, atMs);
    return this.#ended(turn, turnId, 'failed', error?.message ?? turn?.lastWords ?? null, atMs);
  }

  #aborted(payload: unknown, atMs: number): EngineEvent[] {
    const aborted = turnAborted.safeParse(payload);
    if (!aborted.success || this.#isRepeated(aborted.data.turn_id)) return [];
    const turn = this.#turns.end(aborted.data.turn_id ?? null);
    return this.#ended(turn, aborted.data.turn_id, 'cancelled', turn?.lastWords ?? null, atMs);
  }

  /** A turn ends once; the first word on it stands. */
  #isRepeated(turnId: string | null | undefined): boolean {
    return turnId !== null && turnId !== undefined && this.#turns.hasEnded(turnId);
  }

  #ended(
    turn: CodexTurn | null,
    turnId: string | null | undefined,
    outcome: Outcome,
    words: string | null,
    atMs: number,
  ): EngineEvent[] {
    const finalText = words?.slice(0, maxLastWordsCharacters) ?? null;
    const refs = turn?.inputRefs ?? [];
    // An end without an answer, and one with inputs that were too many to remember, prove nothing.
    const tied =
      turn?.overflown !== true && (outcome !== 'completed' || (finalText ?? '').trim() !== '');
    const ended: EngineEvent = {
      kind: 'turn_ended',
      turnRef: turnId ?? turn?.turnId ?? null,
      outcome,
      inputRefs: tied ? refs : [],
      tie: turn?.byOrder === true ? 'order' : 'record',
      endRef: turnId ?? null,
      finalText,
      atMs,
    };
    return [ended, ...untied(tied ? [] : refs, atMs)];
  }
}

function untied(inputRefs: readonly string[], atMs: number): EngineEvent[] {
  return inputRefs.length === 0 ? [] : [{ kind: 'inputs_untied', inputRefs, atMs }];
}
