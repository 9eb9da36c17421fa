import type { EngineEvent } from '../engine-event.js';
import { Chain } from './chain.js';
import { unwrapPastedContent } from './fingerprint.js';
import { OpenInputs } from './open-inputs.js';
import {
  asksForTool,
  isReadable,
  parseRecordEntry,
  type RecordEntry,
  textOf,
  timeOf,
  toolsOf,
} from './record-entry.js';
import { Said } from './said.js';

/** Ends that wait for their last block or for the way back to their inputs. */
const maxPendingEnds = 8;
/** Parents of the latest entries: whoever has a child is not the last block of its message. */
const maxParents = 1_024;
const interruption = /^\[Request interrupted by user(?: for tool use)?\]$/;

type Outcome = 'completed' | 'failed' | 'cancelled';

interface PendingEnd {
  /** The entry that says so; the same at every reading. */
  readonly endRef: string;
  readonly outcome: Outcome;
  readonly messageId: string | null;
  readonly atMs: number;
  /** The last entry of it seen so far. */
  uuid: string;
  /** Something else follows: no block is to come. */
  followed: boolean;
  /** The entry its way back breaks off at, null before it was walked. */
  missing: string | null;
}

/**
 * Turns transcript lines into events. Lines come in file order, which isn't time
 * order; a turn's members are found by walking `parentUuid` back from its end, and
 * an end whose way back is not whole ties nothing.
 */
export class ClaudeRecord {
  readonly #chain = new Chain();
  readonly #said = new Said();
  readonly #open = new OpenInputs();
  readonly #parents = new Set<string>();
  #ends: PendingEnd[] = [];
  #turnRef: string | null = null;
  #lastQueueMs = 0;
  #skipQueueUntilMs = 0;

  /** A line of another shape, or one seen before, gives no event. */
  take(value: unknown): readonly EngineEvent[] {
    const entry = parseRecordEntry(value);
    if (!entry || (entry.uuid !== undefined && this.#chain.has(entry.uuid))) return [];
    // What it was can't be told: it ends no answer, and a way back that leads over it is not whole.
    const speaks = entry.type === 'user' || entry.type === 'assistant';
    if (speaks && !isReadable(entry.message?.content)) return [];
    const before = this.#ends.length;
    const events = this.#read(entry);
    if (entry.uuid === undefined || entry.isSidechain === true) return events;
    this.#noteParent(entry.parentUuid ?? null);
    if (before === 0 && this.#ends.length === 0) return events;
    const ended = this.#endWhatCan(entry.uuid);
    const consumes = this.#chain.get(entry.uuid)?.inputRef ?? null;
    const isMember = ended.some(
      (event) => event.kind === 'turn_ended' && event.inputRefs.includes(consumes ?? ''),
    );
    return isMember ? [...events, ...ended] : [...ended, ...events];
  }

  /** The file was cut or rewritten: its lines may come again, and the queue's have no id. */
  reset(): void {
    this.#skipQueueUntilMs = this.#lastQueueMs;
  }

  /** The record moved to another file; an open turn has its end, if any, in the old one. */
  rotate(): readonly EngineEvent[] {
    const events = this.#ends.splice(0).flatMap((end) => this.#finish(end));
    this.#turnRef = null;
    return events;
  }

  /** True while an end waits for what follows it. */
  get endIsOpen(): boolean {
    return this.#ends.length > 0;
  }

  /** The engine is at rest and everything it wrote has been taken: no block is to come. */
  rest(): readonly EngineEvent[] {
    const before = this.#ends;
    for (const end of before) end.followed = true;
    const whole = before.filter((end) => this.#chain.walk(end.uuid).missing === null);
    this.#ends = before.filter((end) => !whole.includes(end));
    return whole.flatMap((end) => this.#finish(end));
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
      this.#turnDuration(entry, uuid);
    }
    return [];
  }

  /** Only put into the queue, or taken out of it: that ties nothing to a turn. */
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
    return this.#consumed(entry, uuid, text, inputRef);
  }

  #user(entry: RecordEntry, uuid: string): EngineEvent[] {
    const { message, promptSource } = entry;
    const text = textOf(message?.content);
    if (text !== null && interruption.test(text) && Array.isArray(message?.content)) {
      this.#link(entry, uuid, null);
      this.#end(entry, uuid, 'cancelled', true);
      return [];
    }
    const human = entry.origin?.kind === 'human' && entry.isCompactSummary !== true;
    if (text === null || entry.isMeta === true || !human) {
      this.#link(entry, uuid, null);
      return this.#tools(entry, 'ended');
    }
    const events = this.#abandonedBy(entry);
    this.#link(entry, uuid, uuid, promptSource !== undefined && promptSource !== 'queued');
    return [...events, ...this.#consumed(entry, uuid, text, uuid)];
  }

  #consumed(entry: RecordEntry, uuid: string, text: string, inputRef: string): EngineEvent[] {
    const atMs = timeOf(entry);
    const { inputRefs, missing } = this.#chain.walk(uuid);
    const turnRef = (missing === null ? inputRefs[0] : this.#turnRef) ?? inputRef;
    const events: EngineEvent[] = [];
    if (turnRef !== this.#turnRef) {
      this.#turnRef = turnRef;
      events.push({ kind: 'turn_started', turnRef, atMs });
    }
    const given = this.#open.add(inputRef, uuid, atMs);
    if (given !== null) events.push({ kind: 'inputs_untied', inputRefs: [given], atMs });
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
    const root = this.#turnRef;
    const uuid = root === null ? null : this.#open.uuidOf(root);
    if (root === null || uuid === null || this.#ends.length > 0) return [];
    if (this.#chain.get(uuid)?.parent !== (entry.parentUuid ?? null)) return [];
    // Of the two the one that was written later goes on.
    if (timeOf(entry) <= (this.#open.atMsOf(root) ?? 0)) return [];
    const inputRefs = this.#open.refs().filter((ref) => {
      const walk = this.#chain.walk(this.#open.uuidOf(ref) ?? '');
      return walk.missing === null && walk.inputRefs[0] === root;
    });
    this.#chain.markEnd(uuid, `abandoned:${root}`);
    return this.#ended({
      outcome: 'cancelled',
      inputRefs,
      finalText: null,
      endRef: `abandoned:${root}`,
      atMs: timeOf(entry),
    });
  }

  #assistant(entry: RecordEntry, uuid: string): EngineEvent[] {
    const { message } = entry;
    const text = textOf(message?.content);
    const messageId = message?.id ?? uuid;
    this.#said.add(messageId, uuid, text, asksForTool(message?.content));
    const begun = this.#ends.find((end) => end.messageId === messageId);
    if (begun) this.#continueEnd(begun, entry, uuid);
    else if (entry.isApiErrorMessage === true) this.#end(entry, uuid, 'failed', true, messageId);
    else if (message?.stop_reason === 'end_turn' && this.#said.mayEnd(messageId)) {
      this.#end(entry, uuid, 'completed', false, messageId);
    }
    const words: EngineEvent[] =
      text === null || text === ''
        ? []
        : [{ kind: 'turn_text', turnRef: this.#turnRef, text, atMs: timeOf(entry) }];
    return [...words, ...this.#tools(entry, 'begun')];
  }

  #tools(entry: RecordEntry, state: 'begun' | 'ended'): EngineEvent[] {
    const atMs = timeOf(entry);
    const turnRef = this.#turnRef;
    return toolsOf(entry.message?.content).map(({ toolId, name }) => {
      return { kind: 'turn_tool', turnRef, toolId, name, state, atMs };
    });
  }

  /** An answer comes in blocks, one entry each; one that asks for a tool ends nothing. */
  #continueEnd(end: PendingEnd, entry: RecordEntry, uuid: string): void {
    if (end.messageId !== null && this.#said.asksForTool(end.messageId)) {
      this.#ends = this.#ends.filter((other) => other !== end);
      this.#chain.unmarkEnd(end.endRef);
      this.#chain.unmarkEnd(end.uuid);
      return;
    }
    this.#chain.markEnd(uuid, end.endRef);
    if (entry.parentUuid !== end.uuid) return;
    end.uuid = uuid;
    end.followed = this.#parents.has(uuid);
    end.missing = null;
  }

  #end(
    entry: RecordEntry,
    uuid: string,
    outcome: Outcome,
    followed: boolean,
    messageId: string | null = null,
  ): void {
    this.#chain.markEnd(uuid, uuid);
    this.#ends.push({
      endRef: uuid,
      outcome,
      messageId,
      atMs: timeOf(entry),
      uuid,
      followed: followed || this.#parents.has(uuid),
      missing: null,
    });
  }

  /** The turn is over without an answer that ended it: refused, or out of tokens. */
  #turnDuration(entry: RecordEntry, uuid: string): void {
    const { inputRefs, missing } = this.#chain.walk(uuid);
    if (missing === null && inputRefs.length > 0) this.#end(entry, uuid, 'failed', true);
    else this.#chain.markEnd(uuid, uuid);
  }

  /** Ends that the entry `uuid` was the last thing missing for; those before one that ends wait no longer. */
  #endWhatCan(uuid: string): EngineEvent[] {
    let whole = -1;
    this.#ends.forEach((end, index) => {
      const link = this.#chain.get(uuid);
      if (link?.parent === end.uuid && !this.#isBlockOf(uuid, end)) end.followed = true;
      if (!end.followed || (end.missing !== null && end.missing !== uuid)) return;
      end.missing = this.#chain.walk(end.uuid).missing;
      if (end.missing === null) whole = index;
    });
    const count = Math.max(whole + 1, this.#ends.length - maxPendingEnds);
    return this.#ends.splice(0, Math.max(0, count)).flatMap((end) => this.#finish(end));
  }

  #isBlockOf(uuid: string, end: PendingEnd): boolean {
    return end.messageId !== null && this.#said.messageOf(uuid) === end.messageId;
  }

  #finish(end: PendingEnd): EngineEvent[] {
    const { inputRefs, missing } = this.#chain.walk(end.uuid);
    const finalText = this.#lastWords(end);
    if (end.messageId !== null) this.#said.markEnded(end.messageId);
    const { endRef, outcome, atMs } = end;
    // A way that isn't whole, an answer that may have more to come, and none at all prove nothing.
    const whole = missing === null && end.followed;
    const tied = whole && (outcome !== 'completed' || (finalText ?? '').trim() !== '');
    const ended = this.#ended({
      outcome,
      inputRefs: tied ? inputRefs : [],
      finalText,
      endRef,
      atMs,
    });
    const untied = [...(tied ? [] : this.#open.take(inputRefs)), ...this.#open.grow()];
    return untied.length === 0
      ? ended
      : [...ended, { kind: 'inputs_untied', inputRefs: untied, atMs }];
  }

  #lastWords(end: PendingEnd): string | null {
    const parentOf = (uuid: string): string | null => this.#chain.get(uuid)?.parent ?? null;
    if (end.messageId !== null) return this.#said.text(end.messageId, end.uuid, parentOf);
    // Cut off: what was said last in this turn, if anything.
    let at: string | null = parentOf(end.uuid);
    for (let step = 0; at !== null && step < maxParents; step += 1) {
      const messageId = this.#said.messageOf(at);
      if (messageId !== null) return this.#said.text(messageId, at, parentOf) || null;
      if (this.#chain.get(at)?.isRoot !== false) return null;
      at = parentOf(at);
    }
    return null;
  }

  #ended(end: {
    readonly outcome: Outcome;
    readonly inputRefs: readonly string[];
    readonly finalText: string | null;
    readonly endRef: string;
    readonly atMs: number;
  }): EngineEvent[] {
    const turnRef = end.inputRefs[0] ?? null;
    this.#open.take(end.inputRefs);
    if (this.#turnRef !== null && !this.#open.has(this.#turnRef)) this.#turnRef = null;
    return [{ kind: 'turn_ended', turnRef, tie: 'record', ...end }];
  }

  #link(entry: RecordEntry, uuid: string, inputRef: string | null, isRoot = false): void {
    const parent = entry.parentUuid ?? entry.logicalParentUuid ?? null;
    this.#chain.add(uuid, { parent, inputRef, isRoot });
  }

  #noteParent(parent: string | null): void {
    if (parent === null) return;
    this.#parents.add(parent);
    const oldest = this.#parents.keys().next().value;
    if (this.#parents.size > maxParents && oldest !== undefined) this.#parents.delete(oldest);
  }
}
