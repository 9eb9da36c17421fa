import { z } from 'zod';
import type { ReadingSignal } from '../reading.js';

export const statusSource = 'status_file';
/** Nothing runs and no dialog is open. */
export const restingStatus = 'idle';

/** `~/.claude/sessions/<pid>.json`, as far as it is used (claude 2.1.328). */
export interface SessionStatus {
  readonly sessionId?: string | undefined;
  readonly cwd?: string | undefined;
  readonly status?: string | undefined;
  readonly waitingFor?: string | undefined;
  readonly version?: string | undefined;
}

const schema: z.ZodType<SessionStatus> = z.looseObject({
  sessionId: z.string().optional(),
  cwd: z.string().optional(),
  status: z.string().optional(),
  waitingFor: z.string().optional(),
  version: z.string().optional(),
});

/** Null for a file half written or of another shape. */
export function parseSessionStatus(text: string): SessionStatus | null {
  try {
    return schema.parse(JSON.parse(text));
  } catch (failure) {
    if (failure instanceof SyntaxError || failure instanceof z.ZodError) return null;
    throw failure;
  }
}

/** `idle`, `busy`, `waiting`, or `waiting: permission prompt`. */
export function statusSignal(status: SessionStatus, atMs: number): ReadingSignal {
  const { status: word = 'unknown', waitingFor } = status;
  const value = waitingFor === undefined ? word : `${word}: ${waitingFor}`;
  return { source: statusSource, value, atMs };
}

/** The hold the status file asks for, though the screen shows a composer; null where it doesn't. */
export function holdOfStatus(side: readonly ReadingSignal[]): string | null {
  const signal = side.findLast((entry) => entry.source === statusSource);
  if (!signal?.value.startsWith('waiting')) return null;
  return signal.value.includes('permission') ? 'permission' : 'waiting_for_user';
}
