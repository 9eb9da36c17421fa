import { spawn } from 'node:child_process';
import { CodedError } from '@ostler/runtime';
import { type DemoEngine, showDemo } from './show-demo.js';

export interface RunDemoOptions {
  readonly engine: DemoEngine;
  /** One JSON document on stdout, and nothing else there. */
  readonly json: boolean;
}

/**
 * `ostler demo` on this process's streams. Resolves with the exit code: 0 when every claim
 * agrees, 1 when one failed, 130 after Ctrl-C. A real engine's demo runs again in a network
 * of its own, where the system has one to give. Errors as in `showDemo`.
 */
export async function runDemo({ engine, json }: RunDemoOptions): Promise<number> {
  if (engine !== 'simulated') {
    const code = await runOffline(engine);
    if (code !== null) return code;
  }
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new CodedError('CANCELLED', 'The demo was stopped.'));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    return await showDemo({
      engine,
      json,
      output: process.stdout,
      errors: process.stderr,
      colour: (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb',
      signal: stop.signal,
    });
  } catch (failure) {
    if (stop.signal.aborted) return 130;
    throw failure;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

/** Runs this very command without a network; null where it already has none, or can't lose it. */
async function runOffline(engine: DemoEngine): Promise<number | null> {
  const { isOffline, offlineCommand } = await import('@ostler/lab');
  if (isOffline()) return null;
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const offline = offlineCommand(process.execPath, args);
  if (!offline.isolated) {
    process.stderr.write(
      `${engine} runs with this machine's network (${offline.reason ?? 'no reason given'}); only its settings keep it on loopback.\n`,
    );
    return null;
  }
  return await new Promise((resolve, reject) => {
    const child = spawn(offline.command, [...offline.args], { stdio: 'inherit' });
    const ignore = (): void => undefined;
    // The terminal's Ctrl-C reaches the child by itself; this process waits for its end.
    process.on('SIGINT', ignore);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.off('SIGINT', ignore);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}
