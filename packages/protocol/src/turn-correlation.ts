import { z } from 'zod';
import { utf8Bytes } from './text-rules.js';

/** One result's payload, serialised as JSON in UTF-8. A larger one is withheld, never cut. */
export const maxTurnResultBytes: number = 32 * 1024;
export const maxTurnResultMembers = 64;
/** How long a result is sent again to a device that resynchronises, and how many are kept. */
export const turnResultRetentionMs: number = 30 * 60_000;
export const turnResultsKeptCount = 512;

/** One input a result answers. */
export interface TurnResultMember {
  readonly deliveryId: string;
  readonly idempotencyKey: string;
}

export type TurnCorrelation =
  | {
      readonly scope: 'input';
      readonly inputs: readonly [TurnResultMember];
      readonly engineTurnId?: string;
    }
  | {
      readonly scope: 'group';
      /** Two to 64, in the order the engine took them. */
      readonly inputs: readonly TurnResultMember[];
      readonly engineTurnId?: string;
    };

/**
 * The payload of `turn.result`: the engine's answer, and exactly the requests its own
 * record ties it to. Immutable: the same `resultId` always comes with the same content.
 */
export interface TurnResult {
  /** The instance the members' receipts were born in; not necessarily the sender's of now. */
  readonly serverInstanceId: string;
  readonly resultId: string;
  readonly correlation: TurnCorrelation;
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  /** The engine's last words on the turn, whole. Not empty. */
  readonly fullText: string;
}

const member: z.ZodType<TurnResultMember> = z.strictObject({
  deliveryId: z.string().min(1),
  idempotencyKey: z.string().min(1),
});

const engineTurnId = z.string().min(1).exactOptional();

const correlation: z.ZodType<TurnCorrelation> = z.discriminatedUnion('scope', [
  z.strictObject({ scope: z.literal('input'), inputs: z.tuple([member]), engineTurnId }),
  z.strictObject({
    scope: z.literal('group'),
    inputs: z.array(member).min(2).max(maxTurnResultMembers),
    engineTurnId,
  }),
]);

/**
 * Strict: an unknown field, a member named twice by either id, an empty text or more than
 * 32 KiB is no result. Its JSON Schema cannot say that members differ, nor the size in bytes.
 */
export const turnResultSchema: z.ZodType<TurnResult> = z
  .strictObject({
    serverInstanceId: z.string().min(1),
    resultId: z.string().min(1),
    correlation,
    outcome: z.enum(['completed', 'failed', 'cancelled']),
    fullText: z.string().min(1),
  })
  .superRefine((result, context) => {
    const { inputs } = result.correlation;
    for (const field of ['deliveryId', 'idempotencyKey'] as const) {
      if (new Set(inputs.map((input) => input[field])).size === inputs.length) continue;
      context.addIssue({ code: 'custom', message: `a member's ${field} is there twice` });
    }
    if (!fitsTurnResult(result)) {
      context.addIssue({ code: 'custom', message: `larger than ${maxTurnResultBytes} bytes` });
    }
  });

/** False: the result is too large to be sent. */
export function fitsTurnResult(result: TurnResult): boolean {
  return utf8Bytes(JSON.stringify(result)) <= maxTurnResultBytes;
}

/** The correlation of `inputs`, one to 64, in their order. */
export function correlationOf(
  inputs: readonly TurnResultMember[],
  engineTurnId?: string,
): TurnCorrelation {
  const turn = engineTurnId === undefined ? {} : { engineTurnId };
  const [first, ...others] = inputs;
  return first && others.length === 0
    ? { scope: 'input', inputs: [first], ...turn }
    : { scope: 'group', inputs, ...turn };
}
