import { z } from 'zod';

/** A transcript line, as far as it is used (claude 2.1.280, 2.1.328). */
export interface RecordEntry {
  readonly type: string;
  readonly uuid?: string | undefined;
  readonly parentUuid?: string | null | undefined;
  readonly timestamp?: string | undefined;
  readonly isSidechain?: boolean | undefined;
  readonly isMeta?: boolean | undefined;
  readonly isApiErrorMessage?: boolean | undefined;
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
  timestamp: z.string().optional(),
  isSidechain: z.boolean().optional(),
  isMeta: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
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

/** A prompt's or an answer's text: a string, or its text blocks joined. */
export function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.flatMap((block: unknown) => {
    const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
    return type === 'text' && typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? null : texts.join('');
}
