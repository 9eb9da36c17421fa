import { z } from 'zod';

/** A turn told in short, once it has ended. Committed and replayed like any event; it completes nothing. */
export interface TurnSummary {
  readonly turnId: string;
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  /** At most 60 characters, on one line. */
  readonly recap: string;
  /** At most 250 characters. */
  readonly text: string;
}

/** A tool the engine uses in a turn, as its record shows it. Sent to subscribers; not replayed. */
export interface TurnTool {
  readonly turnId: string;
  /** The engine's id of the use. */
  readonly toolId: string;
  readonly name: string;
  readonly state: 'begun' | 'ended';
}

export const turnSummarySchema: z.ZodType<TurnSummary> = z.object({
  turnId: z.string(),
  outcome: z.enum(['completed', 'failed', 'cancelled']),
  recap: z.string(),
  text: z.string(),
});

export const turnToolSchema: z.ZodType<TurnTool> = z.object({
  turnId: z.string(),
  toolId: z.string(),
  name: z.string(),
  state: z.enum(['begun', 'ended']),
});
