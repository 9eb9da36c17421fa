import {
  type Clock,
  Emitter,
  isCoded,
  type Logger,
  silentLogger,
  systemClock,
} from '@ostler/runtime';
import { type AdoptedTerminal, type BegunScreen, beginScreen } from './begin-screen.js';
import type { CastHeader } from './cast.js';
import { CastWriter } from './cast-writer.js';
import { CheckpointPace } from './checkpoint-pace.js';
import {
  GuardedWriter,
  type GuardedWriterLimits,
  type PersonInputOutcome,
} from './guarded-writer.js';
import { type PtySpawnOptions, spawnPty } from './in-process-pty.js';
import type { LostOutput, ProcessExit, ProcessIdentity, PtyEndpoint } from './pty-endpoint.js';
import { Repaint } from './repaint.js';
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

export interface AgentTerminalAdoptOptions extends Omit<AgentTerminalOptions, 'endpoint'> {
  /** As `PtyHost.adopt` gives it; its endpoint is owned from here on. */
  readonly adopted: AdoptedTerminal;
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
  readonly #clock: Clock;
  readonly #outputs: Emitter<{ output: Uint8Array }> = new Emitter();
  readonly #checkpoints: CheckpointPace | undefined;
  #repaint: Repaint | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: AgentTerminalOptions, begun?: BegunScreen) {
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    this.#endpoint = options.endpoint;
    this.#cast = options.cast;
    this.#logger = options.logger ?? silentLogger;
    this.#screen =
      begun?.screen ??
      new Screen({
        cols: options.endpoint.cols,
        rows: options.endpoint.rows,
        clock,
        onReply: (data) => this.#reply(data),
        ...(options.defer && { defer: options.defer }),
      });
    if (begun) begun.reply = (data) => this.#reply(data);
    this.#checkpoints = CheckpointPace.of(options.endpoint, this.#screen, begun?.offset ?? 0);
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
    options.endpoint.onResized?.((size) => this.#resized(size.cols, size.rows));
    options.endpoint.onOutputLost?.((lost) => this.#lost(lost));
    options.endpoint.onData((data) => {
      this.#cast?.output(data);
      this.#screen.feed(data);
      this.#checkpoints?.fed(data.length);
      this.#outputs.emit('output', data);
      this.#repaint?.output();
    });
    if (begun && !begun.screen.certain) this.repaint();
  }

  /**
   * A terminal whose program was started by another daemon: its screen begins from the
   * checkpoint and the log. Replies that the log asks for are not written again. Where a
   * part of the output is lost the program is made to paint, and until it has done so
   * `screenCertain` is false and snapshots say that they must not be read.
   */
  static async adopt(options: AgentTerminalAdoptOptions): Promise<AgentTerminal> {
    const { adopted, ...rest } = options;
    const begun = await beginScreen(adopted, rest);
    return new AgentTerminal({ ...rest, endpoint: adopted.endpoint }, begun);
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

  /** False while output was lost and the program has not painted since. */
  get screenCertain(): boolean {
    return this.#screen.certain;
  }

  isSameProcessAlive(): boolean {
    return this.#endpoint.isSameProcessAlive();
  }

  /**
   * The screen with everything on it that the program had written and the kernel had
   * passed on when this was called. Throws CodedError SCREEN_DISPOSED after `close`, and
   * what the endpoint's `sync` throws.
   */
  look(options?: LookOptions): Promise<ScreenSnapshot> {
    const endpoint = this.#endpoint;
    endpoint.readNow?.();
    return endpoint.sync
      ? endpoint.sync().then(() => this.#screen.look(options))
      : this.#screen.look(options);
  }

  /** See `Screen.onChange`. */
  onChange(listener: (snapshot: ScreenSnapshot) => void): Disposable {
    return this.#screen.onChange(listener);
  }

  /** Called with what the program writes, as it is read. */
  onOutput(listener: (data: Uint8Array) => void): Disposable {
    return this.#outputs.on('output', listener);
  }

  /**
   * Bytes that paint the present screen, with its modes, on a cleared terminal of the
   * same size. What `onOutput` gives from then on continues it. Errors as in `look`.
   */
  async paint(): Promise<Uint8Array> {
    await this.look();
    return Buffer.from(await this.#screen.paint());
  }

  /** Makes the program paint its screen, by a size of one row less and back again. */
  repaint(): void {
    if (this.#endpoint.exit !== null || this.#closed) return;
    this.#repaint?.[Symbol.dispose]();
    this.#screen.certain = false;
    this.#repaint = new Repaint({
      clock: this.#clock,
      resize: (cols, rows) => this.#askForSize(cols, rows),
      size: () => ({ cols: this.cols, rows: this.rows }),
      onPainted: () => {
        this.#repaint = undefined;
        this.#screen.certain = true;
      },
    });
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
      if (this.#endpoint.onResized) return;
    }
    this.#resized(cols, rows);
  }

  /** For a repaint, whose terminal may be let go of or lost meanwhile: then nothing is painted. */
  #askForSize(cols: number, rows: number): void {
    try {
      this.resize(cols, rows);
    } catch (failure) {
      if (!isCoded(failure, 'PTY_CLOSED')) throw failure;
      this.#logger.debug({}, 'the terminal went before it was painted again');
    }
  }

  #resized(cols: number, rows: number): void {
    this.#screen.resize(cols, rows);
    this.#cast?.resize(cols, rows);
    this.#repaint?.resized(cols, rows);
  }

  #lost(lost: LostOutput): void {
    this.#logger.warn({ lostBytes: lost.lostBytes }, 'output was lost; the program is to repaint');
    this.#screen.resize(lost.cols, lost.rows);
    this.#screen.feed(lost.modes);
    this.#checkpoints?.skipped(lost.offset);
    this.repaint();
  }

  /**
   * Lets go of a program whose terminal is in a host process: it works on, and its screen
   * is kept there for whoever adopts it. Elsewhere the same as `close`.
   */
  async release(): Promise<void> {
    if (!this.#endpoint.release) return this.close();
    this.#closed ??= this.#release();
    return this.#closed;
  }

  /** Ends the program, then the recording. Errors as in the endpoint's disposal. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #release(): Promise<void> {
    this.#repaint?.[Symbol.dispose]();
    this.#checkpoints?.write();
    try {
      await this.#endpoint.release?.();
    } finally {
      this.#screen[Symbol.dispose]();
      await this.#cast?.close();
    }
  }

  async #close(): Promise<void> {
    this.#repaint?.[Symbol.dispose]();
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
