import { z } from 'zod';
import { agentSummarySchema, focusSchema, questionSchema } from './event-schemas.js';
import { receiptSchema } from './receipt-schema.js';
import type { Operation } from './requests.js';
import type { OperationResults, ResyncFrame, TerminalFrame } from './results.js';

const mutation = z.object({ status: z.enum(['accepted', 'duplicate']), receipt: receiptSchema });
const nothing = z.object({});
const screenReading = z.object({
  readable: z.boolean(),
  hold: z.string().nullable(),
  busy: z.boolean(),
  composer: z.object({ draft: z.string(), ghost: z.string().nullable() }).nullable(),
  queue: z.array(z.string()),
});

/** Tolerant: unknown fields are dropped, so that a newer server can be read. */
export const resultSchemas: {
  readonly [Name in Operation]: z.ZodType<OperationResults[Name]>;
} = {
  hello: z.object({
    proto: z.int(),
    machineId: z.string(),
    serverInstanceId: z.string(),
    capabilities: z.array(z.string()),
    resumed: z.boolean(),
    cursor: z.int(),
  }),
  'agents.list': z.object({
    machineId: z.string(),
    agents: z.array(agentSummarySchema),
    complete: z.boolean(),
  }),
  status: z.object({
    state: z.string(),
    openQuestion: z
      .object({ requestId: z.string(), questions: z.array(questionSchema) })
      .nullable(),
    hold: z.string().exactOptional(),
    queued: z.int(),
  }),
  recap: z.object({
    turns: z.array(
      z.object({
        turnId: z.string(),
        outcome: z.enum(['completed', 'failed', 'cancelled', 'running']),
        recap: z.string(),
        text: z.string(),
        fullText: z.string(),
        at: z.int(),
      }),
    ),
  }),
  'turn.send': mutation,
  'turn.stop': mutation,
  'question.answer': mutation,
  'receipt.get': z.object({ receipt: receiptSchema.nullable() }),
  'receipt.wait': z.object({
    receipt: receiptSchema,
    waitEnded: z.enum(['reached', 'timeout']),
  }),
  'receipts.list': z.object({ receipts: z.array(receiptSchema) }),
  'focus.get': focusSchema,
  'focus.set': focusSchema,
  'agent.subscribe': z.object({ expiresAtMs: z.number() }),
  'agent.unsubscribe': nothing,
  'pair.revoke': nothing,
  'agent.launch': z.object({
    machineId: z.string(),
    agentId: z.string(),
    name: z.string(),
    version: z.string().nullable(),
    certificate: z.object({
      engine: z.string(),
      version: z.string().nullable(),
      busyMode: z.string(),
      verified: z.boolean(),
    }),
  }),
  'agent.sessions': z.object({
    machineId: z.string(),
    sessions: z.array(
      z.object({
        agentId: z.string(),
        engine: z.string(),
        version: z.string().nullable(),
        sessionId: z.string(),
        workspace: z.string(),
      }),
    ),
    complete: z.boolean(),
  }),
  'agent.close': nothing,
  'agent.resize': nothing,
  'agent.screen': z.object({
    firstRow: z.int(),
    rows: z.array(z.string()),
    cols: z.int(),
    cursor: z.object({ column: z.int(), row: z.int() }),
    modes: z.object({
      bracketedPaste: z.boolean(),
      alternateScreen: z.boolean(),
      cursorVisible: z.boolean(),
      synchronizedOutput: z.boolean(),
    }),
    reading: screenReading,
  }),
  'agent.attach': z.object({
    attachId: z.string(),
    cols: z.int(),
    rows: z.int(),
    paint: z.string(),
  }),
  'agent.detach': nothing,
  'agent.input': z.object({ outcome: z.enum(['passed_on', 'held']) }),
  'agent.size': nothing,
  'receipt.resolve': nothing,
  'server.status': z.object({
    machineId: z.string(),
    serverInstanceId: z.string(),
    pid: z.int(),
    version: z.string(),
    startedAtMs: z.number(),
    uptimeMs: z.number(),
    agents: z.int(),
    connections: z.int(),
    devices: z.int(),
    rssBytes: z.number(),
    hosts: z.array(
      z.object({
        hostId: z.string(),
        pid: z.int(),
        version: z.string(),
        agents: z.int(),
      }),
    ),
    metrics: z.record(z.string(), z.number()),
  }),
  'device.add': z.object({ deviceId: z.string(), token: z.string() }),
  'device.list': z.object({
    devices: z.array(
      z.object({
        deviceId: z.string(),
        name: z.string(),
        addedAtMs: z.number(),
        lastSeenMs: z.number().nullable(),
        revoked: z.boolean(),
      }),
    ),
  }),
  'device.revoke': nothing,
};

const frame = { type: z.literal('terminal'), attachId: z.string() };

export const terminalFrameSchema: z.ZodType<TerminalFrame> = z.discriminatedUnion('kind', [
  z.object({ ...frame, kind: z.literal('output'), data: z.string() }),
  z.object({ ...frame, kind: z.literal('size'), cols: z.int(), rows: z.int() }),
  z.object({ ...frame, kind: z.literal('lost'), paint: z.string() }),
  z.object({
    ...frame,
    kind: z.literal('gone'),
    exitCode: z.int().nullable(),
    signal: z.int().nullable(),
  }),
]);

export const resyncSchema: z.ZodType<ResyncFrame> = z.object({
  type: z.literal('resync'),
  reason: z.enum(['instance_changed', 'cursor_too_old']),
  serverInstanceId: z.string(),
  cursor: z.int(),
});
