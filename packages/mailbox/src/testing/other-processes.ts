import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Ended {
  /** Every line it said, parsed. */
  readonly said: readonly unknown[];
  readonly signal: string | null;
}

/** A started process of the test program that waits for `go`. */
export interface Waiting {
  readonly ready: Promise<void>;
  go(): void;
  readonly ended: Promise<Ended>;
  readonly child: ChildProcess;
}

export function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  interpreter: string = process.execPath,
): Waiting {
  const child = spawn(interpreter, [program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  const said: unknown[] = [];
  let tell: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const value: unknown = JSON.parse(line);
    if (value === 'ready') tell();
    else said.push(value);
  });
  const closed = once(lines, 'close');
  const ended = once(child, 'exit').then(async ([, signal]): Promise<Ended> => {
    await closed;
    tell();
    return { said, signal: signal as string | null };
  });
  // A process that died reads no more.
  child.stdin.on('error', () => undefined);
  return { ready, ended, child, go: () => void child.stdin.end('go\n') };
}

/** Starts them all, lets them go at one moment, and returns what each said last. */
export async function atOnce(
  program: string,
  all: readonly (readonly string[])[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Record<string, unknown>[]> {
  const started = all.map((args) => start(program, args, env));
  await Promise.all(started.map(({ ready }) => ready));
  for (const one of started) one.go();
  const ended = await Promise.all(started.map((one) => one.ended));
  return ended.map(({ said }) => {
    const last = said.at(-1);
    if (typeof last !== 'object' || last === null) throw new Error('it said nothing');
    return last as Record<string, unknown>;
  });
}
