import { z } from 'zod';
import type { InputStatus, Receipt } from './receipt.js';

export const inputStatusSchema: z.ZodType<InputStatus> = z.object({
  mode: z.enum(['direct', 'steering', 'native_queue', 'native_input', 'daemon_queue']),
  phase: z.enum([
    'waiting_for_writer',
    'waiting_for_user',
    'waiting_for_turn',
    'submitted',
    'accepted',
    'unconfirmed',
  ]),
  hold: z.string().exactOptional(),
  evidence: z.enum(['composer_left', 'queue_shown', 'hook', 'record', 'native']).exactOptional(),
});

/** Tolerant: unknown fields are dropped, so that a newer server can be read. */
export const receiptSchema: z.ZodType<Receipt> = z.object({
  idempotencyKey: z.string(),
  deliveryId: z.string(),
  operation: z.enum(['turn.send', 'turn.stop', 'question.answer']),
  state: z.enum(['queued', 'delivered', 'started', 'unknown', 'completed', 'rejected']),
  machineId: z.string(),
  agentId: z.string(),
  serverInstanceId: z.string(),
  turnId: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  at: z.int(),
  input: inputStatusSchema.exactOptional(),
});
