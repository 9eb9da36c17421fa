import path from 'node:path';
import {
  type EngineEvent,
  type EngineObserver,
  type ObserveRequest,
  type ReadingSignal,
  RecordTail,
} from '@ostler/engines';
import { z } from 'zod';

const entrySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), at: z.number(), id: z.string() }),
  z.object({ type: z.literal('accepted'), at: z.number(), id: z.string(), text: z.string() }),
  z.object({
    type: z.literal('consumed'),
    at: z.number(),
    id: z.string(),
    turn: z.string(),
    text: z.string(),
  }),
  z.object({ type: z.literal('withdrawn'), at: z.number(), text: z.string().nullable() }),
  z.object({ type: z.literal('turn_started'), at: z.number(), turn: z.string() }),
  z.object({
    type: z.literal('turn_ended'),
    at: z.number(),
    turn: z.string(),
    outcome: z.enum(['completed', 'failed', 'cancelled']),
    inputs: z.array(z.string()),
    text: z.string().nullable(),
  }),
  z.object({ type: z.literal('rotated'), at: z.number(), path: z.string() }),
]);

/** Where a session of the simulated agent writes its record. */
export function recordPathOf(sessionDir: string): string {
  return path.join(sessionDir, 'record.jsonl');
}

/** Follows the session record, over rotations. */
export class SimulatedObserver implements EngineObserver {
  readonly #request: ObserveRequest;
  readonly #files: RecordTail[] = [];
  #sessionId: string | null = null;

  constructor(request: ObserveRequest) {
    this.#request = request;
    this.#follow(recordPathOf(request.request.sessionDir));
  }

  signals(): readonly ReadingSignal[] {
    return [];
  }

  sessionId(): string | null {
    return this.#sessionId;
  }

  async catchUp(): Promise<void> {
    for (const file of this.#files) await file.catchUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#files.splice(0).map((file) => file[Symbol.asyncDispose]()));
  }

  #follow(file: string): void {
    const { clock, logger } = this.#request;
    this.#files.push(
      new RecordTail({
        path: file,
        from: 'start',
        clock,
        logger,
        onRecord: ({ value }) => this.#note(value),
      }),
    );
  }

  #note(value: unknown): void {
    const parsed = entrySchema.safeParse(value);
    if (!parsed.success) {
      this.#request.logger.warn({ engine: 'simulated' }, 'record entry not understood');
      return;
    }
    const entry = parsed.data;
    if (entry.type === 'session') this.#sessionId = entry.id;
    if (entry.type === 'rotated') this.#follow(entry.path);
    const event = eventOf(entry);
    if (event) this.#request.onEvent(event);
  }
}

function eventOf(entry: z.infer<typeof entrySchema>): EngineEvent | null {
  const atMs = entry.at;
  switch (entry.type) {
    case 'session':
      return null;
    case 'accepted':
      return {
        kind: 'input_accepted',
        text: entry.text,
        evidence: 'record',
        inputRef: entry.id,
        atMs,
      };
    case 'consumed':
      return {
        kind: 'input_consumed',
        text: entry.text,
        evidence: 'record',
        inputRef: entry.id,
        turnRef: entry.turn,
        atMs,
      };
    case 'withdrawn':
      return { kind: 'input_withdrawn', text: entry.text, atMs };
    case 'turn_started':
      return { kind: 'turn_started', turnRef: entry.turn, atMs };
    case 'turn_ended':
      return {
        kind: 'turn_ended',
        turnRef: entry.turn,
        outcome: entry.outcome,
        inputRefs: entry.inputs,
        endRef: entry.turn,
        finalText: entry.text,
        atMs,
      };
    case 'rotated':
      return { kind: 'record_rotated', path: entry.path, atMs };
  }
}
