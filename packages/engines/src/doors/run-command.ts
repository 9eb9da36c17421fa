import { spawn } from 'node:child_process';
import type { Clock } from '@ostler/runtime';
import type { Environment } from './mail-door.js';

const maxOutputBytes: number = 4 * 1024 * 1024;

export type CommandResult =
  /** It could not be started: it did nothing. */
  | { readonly kind: 'not_started'; readonly code: string }
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly stdout: string }
  /** It ran longer than it may, said more than it may, or the caller gave up; it was killed. */
  | { readonly kind: 'stopped'; readonly why: 'timeout' | 'output' | 'aborted' };

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
  readonly cwd?: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program without a shell and without input; never throws. */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const { args, clock, command, cwd, signal, timeoutMs } = options;
  if (signal?.aborted) return { kind: 'stopped', why: 'aborted' };
  const env = Object.fromEntries(
    Object.entries(options.env).filter((entry): entry is [string, string] => entry[1] != null),
  );
  return await new Promise<CommandResult>((resolve) => {
    const child = spawn(command, args, {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      ...(cwd === undefined ? {} : { cwd }),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let started = false;
    const finish = (result: CommandResult): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', abort);
      resolve(result);
    };
    const stop = (why: 'timeout' | 'output' | 'aborted'): void => {
      finish({ kind: 'stopped', why });
      child.kill('SIGKILL');
    };
    const abort = (): void => stop('aborted');
    const timer = clock.setTimer(timeoutMs, () => stop('timeout'));
    signal?.addEventListener('abort', abort, { once: true });
    child.once('spawn', () => {
      started = true;
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (!started) finish({ kind: 'not_started', code: error.code ?? error.name });
    });
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxOutputBytes) stop('output');
    });
    child.once('close', (exitCode) => {
      finish({ kind: 'ended', exitCode, stdout: Buffer.concat(chunks).toString('utf8') });
    });
  });
}
