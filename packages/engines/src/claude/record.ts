import type { EngineEvent } from '../engine-event.js';
import { unwrapPastedContent } from './fingerprint.js';
import { parseRecordEntry, type RecordEntry, textOf } from './record-entry.js';

/** Entries remembered for the walk from a turn's end to its inputs; the oldest go first. */
const maxEntries = 50_000;
const maxWalkSteps = 20_000;
const interruption = /^\[Request interrupted by user(?: for tool use)?\]$/;

interface Link {
  readonly parent: string | null;
  /** What `input_consumed` called the input this entry carries. */
  readonly inputRef: string | null;
  /** A turn's last entry: what lies before belongs to another turn. */
  ends: boolean;
}

interface OpenTurn {
  readonly turnRef: string;
}

/** An answer that closes its turn, until all its blocks are in. */
interface Ending {
  readonly entry: RecordEntry;
  readonly messageId: string | undefined;
  readonly failed: boolean;
  readonly texts: string[];
  uuid: string;
}

/**
 * Turns transcript lines into events. Lines come in file order, which isn't time
 * order; a turn's members are found by walking `parentUuid` back from its end.
 */
export class ClaudeRecord {
  readonly #links = new Map<string, Link>();
  #turn: OpenTurn | null = null;
  #ending: Ending | null = null;
  #lastQueueMs = 0;
  #skipQueueUntilMs = 0;

  /** A line of another shape, or one seen before, gives no event. */
  take(value: unknown): readonly EngineEvent[] {
    const entry = parseRecordEntry(value);
    if (!entry || (entry.uuid !== undefined && this.#links.has(entry.uuid))) return [];
    const events = this.#read(entry);
    return this.#ending && this.#canFinish(entry) ? [...this.#finish(), ...events] : events;
  }

  /** The file was cut or rewritten: its lines may come again, and the queue's have no id. */
  reset(): void {
    this.#skipQueueUntilMs = this.#lastQueueMs;
  }

  /** The record moved to another file; an open turn has its end, if any, in the old one. */
  rotate(): readonly EngineEvent[] {
    const events = this.#ending ? this.#finish() : [];
    this.#turn = null;
    return events;
  }

  #read(entry: RecordEntry): EngineEvent[] {
    if (entry.type === 'queue-operation') return this.#queueOperation(entry);
    if (entry.isSidechain === true || entry.uuid === undefined) return [];
    const { uuid } = entry;
    if (entry.type === 'attachment') return this.#attachment(entry, uuid);
    if (entry.type === 'user') return this.#user(entry, uuid);
    this.#link(entry, uuid, null);
    if (entry.type === 'assistant') return this.#assistant(entry, uuid);
    if (entry.type === 'system' && entry.subtype === 'turn_duration') {
      return this.#turnDuration(entry, uuid);
    }
    return [];
  }

  #queueOperation(entry: RecordEntry): EngineEvent[] {
    const { operation, content } = entry;
    const text = typeof content === 'string' ? unwrapPastedContent(content) : null;
    const atMs = timeOf(entry);
    if (atMs <= this.#skipQueueUntilMs) return [];
    this.#lastQueueMs = Math.max(this.#lastQueueMs, atMs);
    if (operation === 'enqueue' && text !== null) {
      return [{ kind: 'input_accepted', text, evidence: 'record', inputRef: null, atMs }];
    }
    if (operation === 'popAll') return [{ kind: 'input_withdrawn', text, atMs }];
    return [];
  }

  /** Taken into the running turn at a tool's end: no `user` entry is written on this path. */
  #attachment(entry: RecordEntry, uuid: string): EngineEvent[] {
    const { attachment } = entry;
    const text = attachment?.type === 'queued_command' ? textOf(attachment.prompt) : null;
    const human = attachment?.origin?.kind === undefined || attachment.origin.kind === 'human';
    if (text === null || !human || (attachment?.commandMode ?? 'prompt') !== 'prompt') {
      this.#link(entry, uuid, null);
      return [];
    }
    const inputRef = attachment?.source_uuid ?? uuid;
    this.#link(entry, uuid, inputRef);
    return this.#consumed(entry, text, inputRef);
  }

  #user(entry: RecordEntry, uuid: string): EngineEvent[] {
    const text = textOf(entry.message?.content);
    if (text !== null && interruption.test(text) && Array.isArray(entry.message?.content)) {
      this.#link(entry, uuid, null);
      const inputRefs = this.#walk(uuid).members;
      this.#markEnd(uuid);
      return [this.#ended(entry, { outcome: 'cancelled', inputRefs, finalText: null })];
    }
    if (text === null || entry.isMeta === true || entry.origin?.kind !== 'human') {
      this.#link(entry, uuid, null);
      return [];
    }
    const events = this.#abandonedBy(entry);
    this.#link(entry, uuid, uuid);
    return [...events, ...this.#consumed(entry, text, uuid)];
  }

  #consumed(entry: RecordEntry, text: string, inputRef: string): EngineEvent[] {
    const atMs = timeOf(entry);
    const events: EngineEvent[] = [];
    if (!this.#turn) {
      this.#turn = { turnRef: inputRef };
      events.push({ kind: 'turn_started', turnRef: inputRef, atMs });
    }
    const turnRef = this.#turn.turnRef;
    events.push({
      kind: 'input_consumed',
      text: unwrapPastedContent(text),
      evidence: 'record',
      inputRef,
      turnRef,
      atMs,
    });
    return events;
  }

  /**
   * An interrupt before any answer leaves no entry: the prompt goes back into the
   * composer, and the next one has the same parent (claude 2.1.328).
   */
  #abandonedBy(entry: RecordEntry): EngineEvent[] {
    const turn = this.#turn;
    if (!turn || this.#ending) return [];
    const opening = this.#links.get(turn.turnRef);
    if (!opening || opening.parent !== (entry.parentUuid ?? null)) return [];
    opening.ends = true;
    return [
      this.#ended(entry, { outcome: 'cancelled', inputRefs: [turn.turnRef], finalText: null }),
    ];
  }

  #assistant(entry: RecordEntry, uuid: string): EngineEvent[] {
    const text = textOf(entry.message?.content);
    if (this.#ending && this.#ending.messageId === entry.message?.id) {
      this.#ending.texts.push(text ?? '');
      this.#ending.uuid = uuid;
      return [];
    }
    const failed = entry.isApiErrorMessage === true;
    if (!failed && entry.message?.stop_reason !== 'end_turn') return [];
    const before = this.#ending ? this.#finish() : [];
    this.#ending = {
      entry,
      uuid,
      messageId: entry.message?.id,
      failed,
      texts: text === null ? [] : [text],
    };
    return failed ? [...before, ...this.#finish()] : before;
  }

  /** An answer comes in blocks, one entry each; it is over when the chain to its inputs is known and something else follows. */
  #canFinish(entry: RecordEntry): boolean {
    const ending = this.#ending;
    if (!ending || entry.uuid === ending.uuid) return false;
    if (entry.type === 'assistant' && entry.message?.id === ending.messageId) return false;
    if (entry.type === 'user' || entry.subtype === 'turn_duration') return true;
    return this.#walk(ending.uuid).complete;
  }

  /** The turn is over without an answer that ended it: refused, or out of tokens. */
  #turnDuration(entry: RecordEntry, uuid: string): EngineEvent[] {
    if (!this.#turn || this.#ending) {
      this.#markEnd(uuid);
      return [];
    }
    const inputRefs = this.#walk(uuid).members;
    this.#markEnd(uuid);
    return [this.#ended(entry, { outcome: 'failed', inputRefs, finalText: null })];
  }

  #finish(): EngineEvent[] {
    const ending = this.#ending;
    if (!ending) return [];
    this.#ending = null;
    const inputRefs = this.#walk(ending.uuid).members;
    this.#markEnd(ending.uuid);
    const finalText = ending.failed ? null : ending.texts.join('');
    const outcome = ending.failed ? 'failed' : 'completed';
    return [this.#ended(ending.entry, { outcome, inputRefs, finalText })];
  }

  #ended(
    entry: RecordEntry,
    end: {
      outcome: 'completed' | 'failed' | 'cancelled';
      inputRefs: readonly string[];
      finalText: string | null;
    },
  ): EngineEvent {
    const turnRef = this.#turn?.turnRef ?? end.inputRefs[0] ?? null;
    this.#turn = null;
    return { kind: 'turn_ended', turnRef, ...end, atMs: timeOf(entry) };
  }

  /** Members in the order they were consumed; complete when the walk met the end of the turn before. */
  #walk(uuid: string): { members: string[]; complete: boolean } {
    const members: string[] = [];
    let at: string | null = uuid;
    for (let step = 0; at !== null && step < maxWalkSteps; step += 1) {
      const link = this.#links.get(at);
      if (!link || link.ends) return { members, complete: link !== undefined };
      if (link.inputRef !== null) members.unshift(link.inputRef);
      at = link.parent;
    }
    return { members, complete: at === null };
  }

  #markEnd(uuid: string): void {
    const link = this.#links.get(uuid);
    if (link) link.ends = true;
  }

  #link(entry: RecordEntry, uuid: string, inputRef: string | null): void {
    this.#links.set(uuid, { parent: entry.parentUuid ?? null, inputRef, ends: false });
    if (this.#links.size <= maxEntries) return;
    const oldest = this.#links.keys().next().value;
    if (oldest !== undefined) this.#links.delete(oldest);
  }
}

function timeOf(entry: RecordEntry): number {
  const atMs = Date.parse(entry.timestamp ?? '');
  return Number.isNaN(atMs) ? 0 : atMs;
}
