import { z } from 'zod';
import { eventPayloadSchemas, eventSchema } from './event-schemas.js';
import { receiptSchema } from './receipt-schema.js';
import { requestSchemas } from './request-schemas.js';
import { resultSchemas, resyncSchema, terminalFrameSchema } from './result-schemas.js';
import { streamFrameSchema } from './turn-payloads.js';

/** A JSON Schema document, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Every schema for other languages, by name: `receipt`, `event`, `request/<operation>`,
 * `result/<operation>` (the fields beside `type` and `requestId`), `terminal`, `resync`, `stream`,
 * `event/<kind>` (the payload). A schema can't say all: sizes in bytes, blank texts and
 * lone surrogates are checked by `parseRequest` alone.
 */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  const schemas: Record<string, JsonSchema> = {
    receipt: toJsonSchema(receiptSchema),
    event: toJsonSchema(eventSchema),
    terminal: toJsonSchema(terminalFrameSchema),
    resync: toJsonSchema(resyncSchema),
    stream: toJsonSchema(streamFrameSchema),
  };
  for (const [operation, schema] of Object.entries(requestSchemas)) {
    schemas[`request/${operation}`] = toJsonSchema(schema);
  }
  for (const [operation, schema] of Object.entries(resultSchemas)) {
    schemas[`result/${operation}`] = toJsonSchema(schema);
  }
  for (const [kind, schema] of Object.entries(eventPayloadSchemas)) {
    schemas[`event/${kind}`] = toJsonSchema(schema);
  }
  return schemas;
}

/** The input side, so that results and events stay open to fields of a newer server. */
function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
}
