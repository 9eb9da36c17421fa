import { z } from 'zod';

type Outcome = 'completed' | 'failed' | 'cancelled';

/** A turn told in short, once it has ended. Committed and replayed like any event; it completes nothing. */
export interface TurnSummary {
  readonly turnId: string;
  readonly outcome: Outcome;
  /** At most 60 characters, on one line. */
  readonly recap: string;
  /** At most 250 characters. */
  readonly text: string;
}

/** A tool the engine uses in a turn, as its record shows it. */
export interface TurnTool {
  readonly turnId: string;
  /** The engine's id of the use. */
  readonly toolId: string;
  /** Null at the end, where the record does not repeat it. */
  readonly name: string | null;
  readonly state: 'begun' | 'ended';
}

/**
 * What an agent says and does, told to those who follow it by `agent.subscribe` as its engine's
 * record grows. Without an id, and never sent again.
 */
export type StreamFrame = {
  readonly type: 'stream';
  readonly machineId: string;
  readonly agentId: string;
} & (
  | ({ readonly stream: 'tool' } & TurnTool)
  /** Gathered for 250 ms or until there are 4 KiB; at most 4 KiB in UTF-8. */
  | { readonly stream: 'text'; readonly turnId: string; readonly text: string }
  /** The last words of a turn in pieces of at most 4 KiB, at least one. */
  | {
      readonly stream: 'final';
      readonly turnId: string;
      readonly outcome: Outcome;
      readonly text: string;
      readonly isLast: boolean;
    }
);

const outcome = z.enum(['completed', 'failed', 'cancelled']);

export const turnSummarySchema: z.ZodType<TurnSummary> = z.object({
  turnId: z.string(),
  outcome,
  recap: z.string(),
  text: z.string(),
});

const tool = {
  turnId: z.string(),
  toolId: z.string(),
  name: z.string().nullable(),
  state: z.enum(['begun', 'ended']),
};

export const turnToolSchema: z.ZodType<TurnTool> = z.object(tool);

const frame = { type: z.literal('stream'), machineId: z.string(), agentId: z.string() };

/** Tolerant: unknown fields are dropped, so that a newer server can be read. */
export const streamFrameSchema: z.ZodType<StreamFrame> = z.discriminatedUnion('stream', [
  z.object({ ...frame, stream: z.literal('tool'), ...tool }),
  z.object({ ...frame, stream: z.literal('text'), turnId: z.string(), text: z.string() }),
  z.object({
    ...frame,
    stream: z.literal('final'),
    turnId: z.string(),
    outcome,
    text: z.string(),
    isLast: z.boolean(),
  }),
]);
