import {
  type Clock,
  CodedError,
  Emitter,
  type Logger,
  silentLogger,
  systemClock,
} from '@ostler/runtime';
import type { IPty } from 'node-pty';
import { findExecutable, isDirectory, type SpawnProblem } from './executable.js';
import { identifyProcess, ProcessWatch, signalProcess } from './process-identity.js';
import type {
  ProcessExit,
  ProcessIdentity,
  PtyEndpoint,
  WriteGate,
  WriteOutcome,
} from './pty-endpoint.js';
import { openMaster, type PtyMaster } from './pty-master.js';
import { WriteQueue, type WriteQueueLimits } from './write-queue.js';

export interface PtyLimits extends WriteQueueLimits {
  /** Time between the hangup and the kill of `close`, and again after the kill. */
  readonly closeGraceMs: number;
  /** Output kept for the first `onData` listener; then reading pauses and the child waits. */
  readonly maxUnclaimedBytes: number;
  /** The most one `readNow` takes. */
  readonly maxReadNowBytes: number;
}

export const ptyLimits: PtyLimits = {
  maxPendingWriteBytes: 256 * 1024,
  writeStallMs: 5_000,
  closeGraceMs: 2_000,
  maxUnclaimedBytes: 1024 * 1024,
  maxReadNowBytes: 1024 * 1024,
};

export interface PtySpawnOptions {
  /** A path, or a name looked up on the PATH of `env`. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child; PWD and TERM are set on top. */
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  /** TERM of the child; that of `env`, or xterm-256color, where left out. */
  readonly name?: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly limits?: Partial<PtyLimits>;
}

export type PtyErrorCode =
  | 'PTY_SPAWN_FAILED'
  | 'PTY_UNAVAILABLE'
  | 'PTY_CLOSED'
  | 'PTY_BAD_SIZE'
  | 'PTY_STILL_ALIVE';

export const maxPtySize = 10_000;
const readChunkBytes = 16 * 1024;

export function isPtySize(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= maxPtySize;
}

/**
 * Starts `file` on a terminal of its own.
 *
 * Throws CodedError PTY_SPAWN_FAILED (details: `file`, `reason`) before anything is
 * started when the file, its mode, the working directory, an argument or the size
 * won't do: node-pty would show a missing executable only as a child that exits
 * with 1. Throws PTY_UNAVAILABLE when node-pty's native part can't be loaded; it is
 * loaded here and not before.
 */
export async function spawnPty(options: PtySpawnOptions): Promise<InProcessPty> {
  const refuse = (reason: SpawnProblem, what: string, cause?: unknown): never => {
    throw new CodedError<PtyErrorCode>(
      'PTY_SPAWN_FAILED',
      `cannot start ${options.file}: ${what}`,
      { cause, details: { file: options.file, reason } },
    );
  };
  if (!isPtySize(options.cols) || !isPtySize(options.rows))
    refuse('bad_size', `give 1 to ${maxPtySize} columns and rows`);
  const words = [options.file, options.cwd, ...options.args, ...Object.entries(options.env).flat()];
  if (options.file === '' || words.some((word) => word.includes('\0')))
    refuse('bad_argument', 'file, arguments and environment must be free of NUL characters');
  if (!isDirectory(options.cwd)) refuse('cwd_missing', `${options.cwd} is not a directory`);
  const found = findExecutable(options.file, options.cwd, options.env['PATH']);
  if (found.kind === 'missing')
    return refuse(
      found.reason,
      found.reason === 'not_found'
        ? 'no such file; give a path or set PATH in env'
        : 'it is not an executable file; check its mode',
    );

  const nodePty = await loadNodePty();
  let pty: IPty;
  try {
    pty = nodePty.spawn(found.path, [...options.args], {
      cwd: options.cwd,
      env: { ...options.env },
      cols: options.cols,
      rows: options.rows,
      name: options.name ?? options.env['TERM'] ?? 'xterm-256color',
      encoding: null,
    });
  } catch (failure) {
    return refuse('fork_failed', 'the system gave no terminal or no process', failure);
  }
  return new InProcessPty(pty, options);
}

/** Throws CodedError PTY_UNAVAILABLE. */
export async function loadNodePty(): Promise<typeof import('node-pty')> {
  try {
    return await import('node-pty');
  } catch (failure) {
    throw new CodedError<PtyErrorCode>(
      'PTY_UNAVAILABLE',
      'node-pty could not be loaded; reinstall it with its install script allowed',
      { cause: failure },
    );
  }
}

/**
 * A child on a terminal whose master side is in this process (node-pty 1.1.0).
 *
 * What a write proves here. node-pty's own `write` returns before a byte has left,
 * retries a full terminal in a busy loop without end, and on any other error empties
 * its queue and prints a line: it proves nothing. So we write to the master
 * descriptor ourselves, without blocking. `carried_out` means: the kernel has taken
 * every byte into this terminal's input queue, in order, nothing between them. It
 * does not mean that the child has read them; and a terminal in line mode drops what
 * goes beyond its 4,095-byte line without telling anybody.
 *
 * Writes end with `nothing_written` or `ambiguous` for the reasons `pty_closed`,
 * `pending_limit`, `write_stalled` (the child took nothing for `writeStallMs`),
 * `stale_token`, or a system error's code.
 *
 * The terminal is not told that its input is UTF-8 (node-pty does that only where it
 * decodes output itself): a line-mode child erases bytes, not characters.
 *
 * node-pty doesn't close master descriptors on exec: a child inherits those of the
 * terminals opened before it in this process. So the end of this process alone need
 * not hang up on an older child while a younger one lives; `close` signals it itself.
 */
export class InProcessPty implements PtyEndpoint {
  readonly identity: ProcessIdentity;
  readonly #pty: IPty;
  readonly #master: PtyMaster | null;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #limits: PtyLimits;
  readonly #queue: WriteQueue;
  readonly #process: ProcessWatch;
  readonly #events: Emitter<{ data: Uint8Array; exit: ProcessExit }> = new Emitter();
  #unclaimed: Uint8Array[] | undefined = [];
  #unclaimedBytes = 0;
  #exit: ProcessExit | null = null;
  #closing: Promise<void> | undefined;

  /** Use `spawnPty`. */
  constructor(pty: IPty, options: Pick<PtySpawnOptions, 'clock' | 'logger' | 'limits'>) {
    this.#pty = pty;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? silentLogger;
    this.#limits = { ...ptyLimits, ...options.limits };
    this.identity = identifyProcess(pty.pid);
    this.#process = new ProcessWatch(this.identity);
    this.#master = openMaster(pty);
    this.#queue = new WriteQueue(
      this.#master ?? { take: () => ({ failed: 'pty_closed' }) },
      this.#clock,
      this.#limits,
    );
    // Typed as text, but bytes without an encoding.
    pty.onData((data: string | Uint8Array) =>
      this.#take(typeof data === 'string' ? Buffer.from(data) : data),
    );
    this.#master?.beforeClose(() => this.readNow());
    pty.onExit(({ exitCode, signal }) => this.#ended(exitCode, signal ?? 0));
  }

  get cols(): number {
    return this.#pty.cols;
  }

  get rows(): number {
    return this.#pty.rows;
  }

  get exit(): ProcessExit | null {
    return this.#exit;
  }

  /** Output from before the first listener is kept for it (`maxUnclaimedBytes`). */
  onData(listener: (data: Uint8Array) => void): Disposable {
    const subscription = this.#events.on('data', listener);
    const unclaimed = this.#unclaimed;
    this.#unclaimed = undefined;
    if (unclaimed) for (const data of unclaimed) listener(data);
    if (this.#unclaimedBytes >= this.#limits.maxUnclaimedBytes && this.#exit === null)
      this.#pty.resume();
    this.#unclaimedBytes = 0;
    return subscription;
  }

  /** Called once, after the last `onData`; soon, when the child has already gone. */
  onExit(listener: (exit: ProcessExit) => void): Disposable {
    const exit = this.#exit;
    if (exit === null) return this.#events.on('exit', listener);
    let wanted = true;
    queueMicrotask(() => wanted && listener(exit));
    return {
      [Symbol.dispose]: () => {
        wanted = false;
      },
    };
  }

  write(data: Uint8Array, mayWrite?: WriteGate): Promise<WriteOutcome> {
    if (this.#master === null) return this.#writeUnproven(data, mayWrite);
    return this.#queue.write(data, mayWrite);
  }

  readNow(): void {
    if (this.#master === null || this.#exit !== null) return;
    for (let read = 0; read < this.#limits.maxReadNowBytes; ) {
      const data = this.#master.read(readChunkBytes);
      if (data === null) return;
      read += data.length;
      this.#take(data);
    }
  }

  /** Throws CodedError PTY_BAD_SIZE, PTY_CLOSED. */
  resize(cols: number, rows: number): void {
    if (!isPtySize(cols) || !isPtySize(rows))
      throw new CodedError<PtyErrorCode>(
        'PTY_BAD_SIZE',
        `a terminal has 1 to ${maxPtySize} columns and rows, not ${cols}×${rows}`,
      );
    if (this.#exit !== null || this.#closing)
      throw new CodedError<PtyErrorCode>('PTY_CLOSED', 'the terminal is closed; start another');
    this.#pty.resize(cols, rows);
  }

  /** Signals the child alone; does nothing once it has gone. */
  kill(signal: NodeJS.Signals): void {
    if (this.isSameProcessAlive()) signalProcess(this.identity.pid, signal);
  }

  isSameProcessAlive(): boolean {
    return this.#exit === null && this.#process.isAlive();
  }

  /**
   * Hangs up on the child and its process group, kills them after `closeGraceMs`, and
   * resolves once the child is gone. Throws CodedError PTY_STILL_ALIVE when even the
   * kill shows no effect within another `closeGraceMs`.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#queue.close('pty_closed');
    if (this.#exit === null) {
      this.#unclaimed = undefined;
      this.#pty.resume();
      this.#signalGroup('SIGHUP');
      if (!(await this.#exited())) {
        this.#signalGroup('SIGKILL');
        if (!(await this.#exited()))
          throw new CodedError<PtyErrorCode>(
            'PTY_STILL_ALIVE',
            `process ${this.identity.pid} survives SIGKILL; look for a blocked system call`,
            { details: { pid: this.identity.pid } },
          );
      }
      // Whoever of the group outlived its leader; a group with members keeps its number.
      signalProcess(-this.identity.pid, 'SIGKILL');
    }
    this.#events.clear();
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (!this.isSameProcessAlive()) return;
    const { pid } = this.identity;
    // A child that has just been forked leads no group yet.
    if (!signalProcess(-pid, signal)) signalProcess(pid, signal);
  }

  #exited(): Promise<boolean> {
    if (this.#exit !== null) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(this.#limits.closeGraceMs, () => {
        subscription[Symbol.dispose]();
        resolve(false);
      });
      const subscription = this.#events.on('exit', () => {
        timer[Symbol.dispose]();
        subscription[Symbol.dispose]();
        resolve(true);
      });
    });
  }

  #take(data: Uint8Array): void {
    this.#queue.wake();
    if (this.#unclaimed === undefined) {
      this.#events.emit('data', data);
      return;
    }
    this.#unclaimed.push(data);
    this.#unclaimedBytes += data.length;
    if (this.#unclaimedBytes >= this.#limits.maxUnclaimedBytes) this.#pty.pause();
  }

  #ended(exitCode: number, signal: number): void {
    if (this.#exit !== null) return;
    this.#exit = {
      exitCode: signal > 0 ? null : exitCode,
      signal: signal > 0 ? signal : null,
      atMs: this.#clock.nowMs(),
    };
    this.#queue.close('pty_closed');
    this.#process[Symbol.dispose]();
    this.#logger.debug({ pid: this.identity.pid, exitCode, signal }, 'child ended');
    this.#events.emit('exit', this.#exit);
  }

  /** Only where the descriptor is out of reach: handed to node-pty, known to nobody. */
  #writeUnproven(data: Uint8Array, mayWrite?: WriteGate): Promise<WriteOutcome> {
    if (this.#exit !== null || this.#closing)
      return Promise.resolve({ kind: 'nothing_written', reason: 'pty_closed' });
    if (mayWrite?.() === false)
      return Promise.resolve({ kind: 'nothing_written', reason: 'stale_token' });
    this.#pty.write(Buffer.from(data));
    return Promise.resolve({ kind: 'ambiguous', reason: 'unproven_write' });
  }
}
