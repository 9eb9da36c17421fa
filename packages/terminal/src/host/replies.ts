import { type Clock, CodedError } from '@ostler/runtime';
import type { ProcessExit, ProcessIdentity, WriteOutcome } from '../pty-endpoint.js';
import { numberOf, numberOrNull, recordOf, textOf, textOrNull } from './fields.js';
import { isRecord } from './frame.js';
import type { HostErrorCode } from './host-errors.js';
import { maxMetadataCharacters } from './host-limits.js';

/** One session as the host keeps it. */
export interface HostedSessionInfo {
  readonly sessionId: string;
  readonly identity: ProcessIdentity;
  readonly cols: number;
  readonly rows: number;
  /** Null while the child lives. */
  readonly exit: ProcessExit | null;
  /** What was given at `spawn` or by `setMetadata`. */
  readonly metadata: string;
  /** Writes the host has taken on since then; null where it doesn't count them. */
  readonly writesSinceMetadata: number | null;
}

type Fields = Readonly<Record<string, unknown>>;

export function sessionOf(fields: Fields): HostedSessionInfo {
  return {
    sessionId: textOf(fields, 'sessionId', 1_024),
    identity: identityOf(recordOf(fields, 'identity')),
    cols: numberOf(fields, 'cols'),
    rows: numberOf(fields, 'rows'),
    exit: fields['exit'] === null ? null : exitFields(recordOf(fields, 'exit')),
    metadata: textOf(fields, 'metadata', maxMetadataCharacters),
    writesSinceMetadata:
      'writesSinceMetadata' in fields ? numberOf(fields, 'writesSinceMetadata') : null,
  };
}

export function identityOf(fields: Fields): ProcessIdentity {
  return { pid: numberOf(fields, 'pid'), startTime: textOrNull(fields, 'startTime', 64) };
}

function exitFields(fields: Fields): ProcessExit {
  return {
    exitCode: numberOrNull(fields, 'exitCode'),
    signal: numberOrNull(fields, 'signal'),
    atMs: numberOf(fields, 'atMs'),
  };
}

/** An end whose circumstances the host didn't give is one of which only the time is known. */
export function exitOf(exit: unknown, clock: Clock): ProcessExit {
  return isRecord(exit) ? exitFields(exit) : { exitCode: null, signal: null, atMs: clock.nowMs() };
}

export function outcomeOf(ok: Fields): WriteOutcome {
  const outcome = recordOf(ok, 'outcome');
  const kind = outcome['kind'];
  if (kind === 'carried_out') return { kind };
  const reason = textOf(outcome, 'reason', 256);
  if (kind === 'nothing_written' || kind === 'ambiguous') return { kind, reason };
  throw new CodedError<HostErrorCode>('HOST_FRAME_BAD', 'the host answered without sense');
}
