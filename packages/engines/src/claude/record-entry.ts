import { z } from 'zod';

/** A transcript line, as far as it is used (claude 2.1.280, 2.1.328). */
export interface RecordEntry {
  readonly type: string;
  readonly uuid?: string | undefined;
  readonly parentUuid?: string | null | undefined;
  /** Behind a compaction, which has no parent: the entry it stands behind. */
  readonly logicalParentUuid?: string | null | undefined;
  readonly timestamp?: string | undefined;
  readonly isSidechain?: boolean | undefined;
  readonly isMeta?: boolean | undefined;
  readonly isApiErrorMessage?: boolean | undefined;
  readonly isCompactSummary?: boolean | undefined;
  /** `typed`, or `queued` for one that waited for the end of a turn. */
  readonly promptSource?: string | undefined;
  readonly subtype?: string | undefined;
  readonly origin?: { readonly kind?: string | undefined } | undefined;
  readonly operation?: string | undefined;
  readonly content?: unknown;
  readonly message?:
    | {
        readonly id?: string | undefined;
        readonly content?: unknown;
        readonly stop_reason?: string | null | undefined;
      }
    | undefined;
  readonly attachment?:
    | {
        readonly type?: string | undefined;
        readonly prompt?: unknown;
        readonly source_uuid?: string | undefined;
        readonly commandMode?: string | undefined;
        readonly origin?: { readonly kind?: string | undefined } | undefined;
      }
    | undefined;
}

const origin = z.looseObject({ kind: z.string().optional() }).optional();

const schema: z.ZodType<RecordEntry> = z.looseObject({
  type: z.string(),
  uuid: z.string().optional(),
  parentUuid: z.string().nullable().optional(),
  logicalParentUuid: z.string().nullable().optional(),
  timestamp: z.string().optional(),
  isSidechain: z.boolean().optional(),
  isMeta: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
  promptSource: z.string().optional(),
  subtype: z.string().optional(),
  origin,
  operation: z.string().optional(),
  content: z.unknown().optional(),
  message: z
    .looseObject({
      id: z.string().optional(),
      content: z.unknown().optional(),
      stop_reason: z.string().nullable().optional(),
    })
    .optional(),
  attachment: z
    .looseObject({
      type: z.string().optional(),
      prompt: z.unknown().optional(),
      source_uuid: z.string().optional(),
      commandMode: z.string().optional(),
      origin,
    })
    .optional(),
});

/** Null for a line of another shape. */
export function parseRecordEntry(value: unknown): RecordEntry | null {
  const result = schema.safeParse(value);
  return result.success ? result.data : null;
}

type Block = { readonly type?: unknown; readonly text?: unknown } | null;

/** True for a text, and for blocks each of which says what it is. */
export function isReadable(content: unknown): boolean {
  if (!Array.isArray(content)) return typeof content === 'string';
  return (content as readonly Block[]).every(
    (block) =>
      typeof block?.type === 'string' && (block.type !== 'text' || typeof block.text === 'string'),
  );
}

/**
 * A prompt's or an answer's text: a string, or its text blocks joined. Null where one of the
 * blocks has another shape: what is left of a text is another text.
 */
export function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || !isReadable(content)) return null;
  const texts = (content as readonly Block[]).flatMap((block) =>
    block?.type === 'text' ? [String(block.text)] : [],
  );
  return texts.length === 0 ? null : texts.join('');
}

/** The tool uses an answer asks for, or the ends of them that a tool's result reports. */
export function toolsOf(
  content: unknown,
): readonly { readonly toolId: string; readonly name: string | null }[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => {
    const { type, id, name, tool_use_id } = (block ?? {}) as Record<string, unknown>;
    if (type === 'tool_use' && typeof id === 'string') {
      return [{ toolId: id, name: typeof name === 'string' ? name : null }];
    }
    if (type === 'tool_result' && typeof tool_use_id === 'string') {
      return [{ toolId: tool_use_id, name: null }];
    }
    return [];
  });
}

export function asksForTool(content: unknown): boolean {
  return (
    Array.isArray(content) &&
    content.some((block: unknown) => (block as { type?: unknown } | null)?.type === 'tool_use')
  );
}

/** Unix epoch; 0 where the entry has no time. */
export function timeOf(entry: RecordEntry): number {
  const atMs = Date.parse(entry.timestamp ?? '');
  return Number.isNaN(atMs) ? 0 : atMs;
}
