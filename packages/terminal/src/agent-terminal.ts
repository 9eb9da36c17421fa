import { type Clock, type Logger, silentLogger, systemClock } from '@ostler/runtime';
import { type CastHeader } from './cast.js';
import { CastWriter } from './cast-writer.js';
import {
  GuardedWriter,
  type GuardedWriterLimits,
  type PersonInputOutcome,
} from './guarded-writer.js';
import { type PtySpawnOptions, spawnPty } from './in-process-pty.js';
import type { ProcessExit, ProcessIdentity, PtyEndpoint } from './pty-endpoint.js';
import { type LookOptions, Screen, type ScreenOptions } from './screen.js';
import type { ScreenSnapshot } from './snapshot.js';

export interface AgentTerminalOptions {
  /** Owned from here on. */
  readonly endpoint: PtyEndpoint;
  /** A recording of everything both ways; owned from here on. */
  readonly cast?: CastWriter;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly writerLimits?: Partial<GuardedWriterLimits>;
  /** See `ScreenOptions.defer`. */
  readonly defer?: NonNullable<ScreenOptions['defer']>;
}

export interface AgentTerminalLaunchOptions
  extends PtySpawnOptions,
    Pick<AgentTerminalOptions, 'writerLimits' | 'defer'> {
  /** Records the session to this new file (asciicast v2). */
  readonly castPath?: string;
  readonly castTitle?: string;
}

/**
 * A program on a terminal, its screen, and the one way to type into it. Output goes
 * to the screen (and the recording) as it is read; the terminal's replies go back.
 */
export class AgentTerminal implements AsyncDisposable {
  /** Leases, pastes and keys. */
  readonly writer: GuardedWriter;
  readonly #endpoint: PtyEndpoint;
  readonly #screen: Screen;
  readonly #cast: CastWriter | undefined;
  readonly #logger: Logger;
  #closed: Promise<void> | undefined;

  constructor(options: AgentTerminalOptions) {
    const clock = options.clock ?? systemClock;
    this.#endpoint = options.endpoint;
    this.#cast = options.cast;
    this.#logger = options.logger ?? silentLogger;
    this.#screen = new Screen({
      cols: options.endpoint.cols,
      rows: options.endpoint.rows,
      clock,
      onReply: (data) => this.#reply(data),
      ...(options.defer && { defer: options.defer }),
    });
    this.writer = new GuardedWriter({
      endpoint: options.endpoint,
      bracketedPaste: () => this.#screen.bracketedPaste,
      onWritten: (data, begunAtMs) => this.#cast?.input(data, begunAtMs),
      nowMs: () => clock.monotonicMs(),
      onHeldLost: (outcome) =>
        this.#logger.warn(
          { outcome: outcome.kind, reason: outcome.reason },
          'keys held during a lease did not reach the program',
        ),
      ...(options.writerLimits && { limits: options.writerLimits }),
    });
    options.endpoint.onData((data) => {
      this.#cast?.output(data);
      this.#screen.feed(data);
    });
  }

  /** Starts a program; errors as in `spawnPty` and `CastWriter.open`. */
  static async launch(options: AgentTerminalLaunchOptions): Promise<AgentTerminal> {
    const header: CastHeader = {
      width: options.cols,
      height: options.rows,
      ...(options.castTitle !== undefined && { title: options.castTitle }),
      env: { TERM: options.name ?? options.env['TERM'] ?? 'xterm-256color' },
    };
    const { clock } = options;
    const cast =
      options.castPath === undefined
        ? undefined
        : await CastWriter.open({ path: options.castPath, header, ...(clock && { clock }) });
    let endpoint: PtyEndpoint;
    try {
      endpoint = await spawnPty(options);
    } catch (failure) {
      await cast?.close();
      throw failure;
    }
    return new AgentTerminal({ ...options, endpoint, ...(cast && { cast }) });
  }

  get identity(): ProcessIdentity {
    return this.#endpoint.identity;
  }

  get cols(): number {
    return this.#endpoint.cols;
  }

  get rows(): number {
    return this.#endpoint.rows;
  }

  /** Null while the program lives. */
  get exit(): ProcessExit | null {
    return this.#endpoint.exit;
  }

  /** The recording, where there is one: for marks, and to see whether it still runs. */
  get cast(): Pick<CastWriter, 'mark' | 'state'> | undefined {
    return this.#cast;
  }

  isSameProcessAlive(): boolean {
    return this.#endpoint.isSameProcessAlive();
  }

  /**
   * The screen with everything on it that the program had written and the kernel had
   * passed on when this was called. Throws CodedError SCREEN_DISPOSED after `close`.
   */
  look(options?: LookOptions): Promise<ScreenSnapshot> {
    this.#endpoint.readNow?.();
    return this.#screen.look(options);
  }

  /** See `Screen.onChange`. */
  onChange(listener: (snapshot: ScreenSnapshot) => void): Disposable {
    return this.#screen.onChange(listener);
  }

  onExit(listener: (exit: ProcessExit) => void): Disposable {
    return this.#endpoint.onExit(listener);
  }

  /** A person's keys: held back during a lease, then out whole and in order. */
  personInput(data: string | Uint8Array): PersonInputOutcome {
    return this.writer.personInput(data);
  }

  /**
   * Terminal and screen together; what was read before is parsed at the old size. Once
   * the program has gone only the screen changes. Throws CodedError PTY_BAD_SIZE.
   */
  resize(cols: number, rows: number): void {
    if (this.#endpoint.exit === null) {
      this.#endpoint.readNow?.();
      this.#endpoint.resize(cols, rows);
    }
    this.#screen.resize(cols, rows);
    this.#cast?.resize(cols, rows);
  }

  /** Ends the program, then the recording. Errors as in the endpoint's disposal. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    try {
      await this.#endpoint[Symbol.asyncDispose]();
    } finally {
      this.#screen[Symbol.dispose]();
      await this.#cast?.close();
    }
  }

  #reply(data: string): void {
    void this.writer.reply(data).then((outcome) => {
      if (outcome.kind !== 'carried_out')
        this.#logger.warn(
          { outcome: outcome.kind, reason: outcome.reason },
          'a terminal reply did not reach the program',
        );
    });
  }
}
