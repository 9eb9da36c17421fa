import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createFrameSplitter, frameOf } from '@ostler/protocol';
import { randomIds, systemClock } from '@ostler/runtime';

type Frame = Readonly<Record<string, unknown>>;

const command = fileURLToPath(new URL('../program/ostler.js', import.meta.url));
/** Arguments of a daemon that can launch simulated agents. */
export const withSimulated: readonly string[] = [
  '--engine-module',
  fileURLToPath(new URL('engine-module-main.js', import.meta.url)),
];
const ticksPerSecond = 100;
const bytesPerMiB = 1024 * 1024;

/** `ostler up` in a process of its own, and one connection to it. */
export class DaemonChild implements AsyncDisposable {
  /** From the start of the process to its ready line. */
  readonly readyMs: number;
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #waiting = new Map<string, (frame: Frame) => void>();
  readonly #listeners = new Set<(frame: Frame) => void>();

  private constructor(child: ChildProcess, socket: Socket, readyMs: number) {
    this.#child = child;
    this.#socket = socket;
    this.readyMs = readyMs;
    const splitter = createFrameSplitter({ maxFrameBytes: bytesPerMiB });
    socket.on('data', (chunk: Buffer) => {
      for (const frame of splitter.push(chunk)) {
        if (frame.kind === 'frame') this.#take(JSON.parse(frame.text) as Frame);
      }
    });
  }

  /** `more` are arguments of `ostler up`. */
  static async start(stateDir: string, more: readonly string[] = []): Promise<DaemonChild> {
    const beganMs = systemClock.monotonicMs();
    const quotas = ['--rate-burst', '100000', '--rate-per-second', '100000'];
    const child = spawn(
      process.execPath,
      [
        command,
        'up',
        ...['--state-dir', stateDir, '--json', ...more],
        ...[...quotas, '--max-in-flight', '512', '--log-level', 'error'],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const readyMs = systemClock.monotonicMs() - beganMs;
    const { socket: path } = JSON.parse(String(line)) as { socket: string };
    const socket = createConnection(path);
    await once(socket, 'connect');
    const daemon = new DaemonChild(child, socket, readyMs);
    await daemon.call('hello', { proto: 1, capabilities: ['input.status.v1'] });
    return daemon;
  }

  async call(type: string, fields: object = {}): Promise<Frame> {
    const requestId = randomIds.uuid();
    this.#socket.write(frameOf({ type, requestId, ...fields }));
    return await new Promise((resolve) => this.#waiting.set(requestId, resolve));
  }

  onFrame(listener: (frame: Frame) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Processor time used so far, and memory now, as the kernel counts them. */
  usage(): { readonly cpuMs: number; readonly rssMiB: number } {
    return usageOf(this.#child.pid ?? 0);
  }

  async kill(): Promise<void> {
    this.#socket.destroy();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  #take(frame: Frame): void {
    const waiting = this.#waiting.get(String(frame['requestId']));
    this.#waiting.delete(String(frame['requestId']));
    if (waiting) waiting(frame);
    else for (const listener of this.#listeners) listener(frame);
  }
}

export function usageOf(pid: number): { readonly cpuMs: number; readonly rssMiB: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const rssKiB = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return { cpuMs: (ticks * 1_000) / ticksPerSecond, rssMiB: rssKiB / 1_024 };
}
