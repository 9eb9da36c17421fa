import { appendFileSync, renameSync, statSync } from 'node:fs';
import { type Clock, type LogFields, type Logger } from '@ostler/runtime';
import { isErrno } from './host-place.js';

const maxLogFileBytes = 256 * 1024;

/** Appends lines of JSON to `path`; past 256 KiB that file becomes `<path>.old`, in place of the one before. */
export function openHostLog(path: string, clock: Clock): Logger {
  let bytes = sizeOf(path);
  const write = (level: string, fields: LogFields, message: string): void => {
    const line = `${JSON.stringify({ atMs: clock.nowMs(), level, message, ...fields })}\n`;
    try {
      if (bytes + line.length > maxLogFileBytes) {
        renameSync(path, `${path}.old`);
        bytes = 0;
      }
      appendFileSync(path, line, { mode: 0o600 });
      bytes += line.length;
    } catch (failure) {
      // A full disk must not end the agents.
      if (!(failure instanceof Error)) throw failure;
      bytes = sizeOf(path);
    }
  };
  return {
    debug: () => undefined,
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
  };
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (failure) {
    if (isErrno(failure, 'ENOENT')) return 0;
    throw failure;
  }
}
