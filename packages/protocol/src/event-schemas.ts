import { z } from 'zod';
import type {
  AgentSummary,
  EventKind,
  EventPayloads,
  EventQuestion,
  OstlerEvent,
} from './events.js';
import { receiptSchema } from './receipt-schema.js';
import type { FocusState } from './focus-state.js';
import { turnResultSchema } from './turn-correlation.js';
import { turnSummarySchema, turnToolSchema } from './turn-payloads.js';

export const questionSchema: z.ZodType<EventQuestion> = z.object({
  header: z.string().nullable(),
  text: z.string(),
  options: z.array(z.string()),
  multiSelect: z.boolean(),
});

export const focusSchema: z.ZodType<FocusState> = z.object({
  focus: z.object({ machineId: z.string(), agentId: z.string() }).nullable(),
  focusRevision: z.int(),
});

export const agentSummarySchema: z.ZodType<AgentSummary> = z.object({
  machineId: z.string(),
  agentId: z.string(),
  name: z.string(),
  engine: z.string(),
  version: z.string().nullable(),
  state: z.string(),
  hold: z.string().exactOptional(),
  queued: z.int().min(0),
  recap: z.string().exactOptional(),
});

/** Tolerant: unknown fields are dropped, so that a newer server can be read. */
export const eventPayloadSchemas: {
  readonly [Kind in keyof EventPayloads]: z.ZodType<EventPayloads[Kind]>;
} = {
  'receipt.updated': z.object({ receipt: receiptSchema }),
  'turn.started': z.object({ turnId: z.string(), deliveryIds: z.array(z.string()) }),
  'turn.done': z.object({
    turnId: z.string(),
    outcome: z.enum(['completed', 'failed', 'cancelled']),
  }),
  'turn.error': z.object({
    turnId: z.string().nullable(),
    code: z.string(),
    message: z.string(),
  }),
  'question.open': z.object({ requestId: z.string(), questions: z.array(questionSchema) }),
  'question.close': z.object({ requestId: z.string() }),
  'agents.changed': z.object({ agents: z.array(agentSummarySchema), complete: z.boolean() }),
  'agent.error': z.object({ code: z.string(), message: z.string() }),
  'focus.changed': focusSchema,
  /** Strict, unlike the others: a result is applied whole or not at all. */
  'turn.result': turnResultSchema,
  'turn.summary': turnSummarySchema,
  'turn.tool': turnToolSchema,
};

const kinds: readonly EventKind[] = [
  'receipt.updated',
  'turn.started',
  'turn.done',
  'turn.error',
  'turn.summary',
  'turn.tool',
  'turn.result',
  'agent.error',
  'question.open',
  'question.close',
  'focus.changed',
  'agents.changed',
];

/** The envelope; the payload is checked by its kind's schema where there is one. */
export const eventSchema: z.ZodType<OstlerEvent> = z.object({
  type: z.literal('event'),
  eventId: z.int().min(1),
  serverInstanceId: z.string(),
  machineId: z.string(),
  agentId: z.string().exactOptional(),
  kind: z.enum(kinds),
  payload: z.record(z.string(), z.unknown()),
});
