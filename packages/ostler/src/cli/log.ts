import type { Logger } from '@ostler/runtime';
import { destination, pino, stdSerializers } from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

/** JSON lines on stderr, so that stdout is the command's alone. */
export function openLog(level: LogLevel): Logger {
  return pino(
    { level, base: null, serializers: { failure: stdSerializers.err } },
    destination({ fd: 2, sync: true }),
  );
}
