import type { PastedNote } from '@ostler/controller';
import type { SessionRecord } from '@ostler/service';
import { z } from 'zod';

/** What a host keeps of a session for the daemon that comes next. */
export interface KeptSession {
  readonly record: SessionRecord;
  readonly note: PastedNote | null;
}

const environment = z.record(z.string(), z.string());

const keptSchema = z.object({
  record: z.object({
    agentId: z.string(),
    name: z.string(),
    engine: z.string(),
    launchedAtMs: z.number(),
    plan: z.object({
      file: z.string(),
      args: z.array(z.string()),
      version: z.string().nullable(),
    }),
    request: z.object({
      command: z.string().exactOptional(),
      args: z.array(z.string()),
      cwd: z.string(),
      sessionDir: z.string(),
      env: environment,
    }),
    /** Null: the same as the request's. */
    planEnv: environment.nullable(),
  }),
  note: z
    .object({ deliveryId: z.string(), text: z.string(), reclaiming: z.boolean().default(false) })
    .nullable(),
});

/** The environment is written once, as engines mostly plan with the one they were given. */
export function keptText({ note, record }: KeptSession): string {
  const { plan, request } = record;
  const { env, ...planned } = plan;
  const planEnv = env === request.env ? null : env;
  return JSON.stringify({ record: { ...record, plan: planned, planEnv }, note });
}

/** Null where it isn't what `keptText` wrote. */
export function keptIn(metadata: string): KeptSession | null {
  let value: unknown;
  try {
    value = JSON.parse(metadata);
  } catch {
    return null;
  }
  const parsed = keptSchema.safeParse(value);
  if (!parsed.success) return null;
  const { planEnv, ...record } = parsed.data.record;
  const env = planEnv ?? record.request.env;
  return { record: { ...record, plan: { ...record.plan, env } }, note: parsed.data.note };
}
