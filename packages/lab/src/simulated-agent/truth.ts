import { z } from 'zod';

/** What really happened inside the simulated agent, for tests to hold claims against. */
export interface TruthEvent {
  readonly seq: number;
  readonly atMs: number;
  readonly event: TruthKind;
  /** The exact text, where there is one. */
  readonly text?: string;
  readonly id?: string;
  readonly turn?: string;
  readonly how?: string;
  readonly why?: string;
  readonly dialog?: string;
  readonly option?: string;
}

export type TruthKind =
  | 'started'
  | 'ready'
  | 'pasted'
  | 'submitted'
  /** The model was given this very prompt. */
  | 'model_received'
  | 'dialog_opened'
  /** A key answered it. */
  | 'dialog_answered'
  /** It went away without a key. */
  | 'dialog_closed'
  | 'enter_ignored'
  | 'bytes_ignored'
  | 'draft_cleared'
  | 'queue_withdrawn'
  /** A slash or shell command ran instead of a prompt being sent. */
  | 'command_run'
  | 'shell_received'
  | 'turn_started'
  | 'turn_ended'
  | 'released'
  | 'done'
  | 'refused'
  | 'stalled'
  | 'resumed'
  | 'left';

export type TruthFields = Omit<TruthEvent, 'seq' | 'atMs'>;

const optional = z.string().exactOptional();

export const truthSchema: z.ZodType<TruthEvent> = z.object({
  seq: z.number(),
  atMs: z.number(),
  event: z.string() as unknown as z.ZodType<TruthKind>,
  text: optional,
  id: optional,
  turn: optional,
  how: optional,
  why: optional,
  dialog: optional,
  option: optional,
});
