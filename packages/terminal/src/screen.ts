import { type Clock, CodedError, Emitter, systemClock } from '@ostler/runtime';
import headless from '@xterm/headless';
import { paintScreen } from './screen-paint.js';
import { readProgramState, readTitle } from './program-signals.js';
import { guardSequences } from './sequence-guards.js';
import { readCheckpoint, restoreCheckpoint, writeCheckpoint } from './screen-checkpoint.js';
import { RowReader } from './row-reader.js';
import type { ScreenRow, ScreenSnapshot, TerminalModes, TerminalSignals } from './snapshot.js';
import { unicodeProvider } from './unicode-provider.js';
import { Utf8Border } from './utf8-border.js';
import { openInternals, type XtermInternals } from './xterm-internals.js';
import { openCore } from './xterm-state.js';

export interface ScreenOptions {
  readonly cols: number;
  readonly rows: number;
  readonly clock?: Clock;
  /** The terminal's own replies (DA, CPR, …), to be written back to the program. */
  readonly onReply?: (data: string) => void;
  /**
   * Runs a task soon, once: what is fed until then is one change. `setImmediate`
   * where left out, which is one change for each turn of the event loop.
   */
  readonly defer?: (task: () => void) => void;
}

export interface LookOptions {
  /**
   * When a synchronized frame (mode 2026) is half painted: waits for its end, woken by
   * it, for at most so long. The snapshot's `modes.synchronizedOutput` tells whether
   * the wait was in vain.
   */
  readonly frameEndMs?: number;
}

/** Fed bytes that may wait for the deferred parse; beyond, they are parsed at once. */
const maxUnparsedBytes = 256 * 1024;

/**
 * A headless terminal that turns output bytes into snapshots.
 *
 * Keeps no scrollback: memory is bounded by the screen's size. Nothing runs while
 * nothing is fed.
 */
export class Screen implements Disposable {
  readonly #terminal: headless.Terminal;
  readonly #internals: XtermInternals;
  readonly #clock: Clock;
  readonly #defer: (task: () => void) => void;
  readonly #changes: Emitter<{ change: ScreenSnapshot }> = new Emitter();
  readonly #utf8Border = new Utf8Border();
  readonly #rowReader = new RowReader();
  #listeners = 0;
  #unparsed: (Uint8Array | string)[] = [];
  #unparsedBytes = 0;
  #deferred = false;
  #disposed = false;
  #bytesParsed = 0;
  #dirtyFrom = 0;
  #dirtyTo: number = Number.MAX_SAFE_INTEGER;
  #cursorVisible = true;
  #signals: TerminalSignals = { title: null, programState: null };
  #signalsSeen: string = '';
  #last: ScreenSnapshot | undefined;
  #announcedRevision = -1;
  #certain = true;

  constructor(options: ScreenOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#defer = options.defer ?? setImmediate;
    this.#terminal = new headless.Terminal({
      cols: options.cols,
      rows: options.rows,
      allowProposedApi: true,
      scrollback: 0,
      logLevel: 'off',
    });
    this.#terminal.unicode.register(unicodeProvider);
    this.#terminal.unicode.activeVersion = unicodeProvider.version;
    this.#internals = openInternals(this.#terminal);
    // "All rows" is said at the end of each synchronized frame and at a change of
    // buffers. The first changes no cell; the second is seen in `#mode`.
    this.#internals.onDirtyRows?.((range) => {
      if (range) this.#markDirty(range.start, range.end);
    });
    this.#terminal.onData((data) => options.onReply?.(data));
    this.#terminal.onTitleChange((text) => {
      this.#signals = { ...this.#signals, title: readTitle(text, this.#clock.nowMs()) };
    });
    guardSequences(this.#terminal, this.#internals);
    const parser = this.#terminal.parser;
    // A link shows nothing, and the terminal would remember each one it was ever given.
    parser.registerOscHandler(8, () => true);
    parser.registerCsiHandler({ prefix: '?', final: 'h' }, (params) => this.#mode(params, true));
    parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) => this.#mode(params, false));
    parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => this.#reset());
    parser.registerEscHandler({ final: 'c' }, () => this.#reset());
    parser.registerOscHandler(7501, (data) => {
      const programState = readProgramState(data, this.#clock.nowMs());
      if (programState) this.#signals = { ...this.#signals, programState };
      return true;
    });
  }

  /**
   * A screen that goes on from `blob`, at its size, as if it had seen everything before
   * it; null when the blob is damaged or another version wrote it.
   */
  static fromCheckpoint(
    options: Omit<ScreenOptions, 'cols' | 'rows'>,
    checkpoint: { readonly blob: Uint8Array; readonly offset: number },
  ): Screen | null {
    const state = readCheckpoint(checkpoint.blob);
    if (!state) return null;
    const screen = new Screen({ ...options, cols: state.cols, rows: state.rows });
    const core = openCore(screen.#terminal);
    if (!core) return null;
    restoreCheckpoint(core, state);
    screen.#bytesParsed = checkpoint.offset;
    screen.#cursorVisible = state.cursorVisible;
    screen.#signals = state.signals;
    return screen;
  }

  /**
   * All that this screen is, at this size, and how many of the bytes fed are not on it
   * yet: the begun character at their end. Null in the middle of a sequence.
   */
  checkpoint(): { readonly blob: Uint8Array; readonly unfinishedBytes: number } | null {
    this.#parse();
    const core = this.#internals.parse ? openCore(this.#terminal) : null;
    const { cols, rows } = this.#terminal;
    const extra = { cols, rows, cursorVisible: this.#cursorVisible, signals: this.#signals };
    const blob = core && writeCheckpoint(core, extra);
    return blob && { blob, unfinishedBytes: this.#utf8Border.keptBytes };
  }

  /** Sequences that paint this screen on a cleared terminal of its size; see `paintScreen`. */
  async paint(): Promise<string> {
    await this.#lookNow();
    return paintScreen({
      terminal: this.#terminal,
      core: openCore(this.#terminal),
      cursorVisible: this.#cursorVisible,
      title: this.#signals.title?.text ?? null,
    });
  }

  /** While this is false, snapshots say that they must not be read (`modes.synchronizedOutput`). */
  get certain(): boolean {
    return this.#certain;
  }

  set certain(certain: boolean) {
    this.#certain = certain;
    this.#announceSoon();
  }

  /** Mode 2004, by everything fed so far. */
  get bracketedPaste(): boolean {
    this.#parse();
    return this.#terminal.modes.bracketedPasteMode;
  }

  /** Takes output bytes; they are on the screen by the next `look`. The array must not change afterwards. */
  feed(data: Uint8Array | string): void {
    if (this.#disposed || data.length === 0) return;
    this.#unparsed.push(data);
    this.#unparsedBytes += data.length;
    if (this.#unparsedBytes > maxUnparsedBytes) this.#parse();
    if (this.#deferred) return;
    this.#deferred = true;
    this.#defer(() => {
      this.#deferred = false;
      this.#parse();
      this.#announceSoon();
    });
  }

  /**
   * The parse barrier: resolves with a snapshot that shows every byte fed so far.
   * Costs one turn of the microtask queue, and the reading of the rows that changed.
   * Throws CodedError SCREEN_DISPOSED.
   */
  async look(options: LookOptions = {}): Promise<ScreenSnapshot> {
    const snapshot = await this.#lookNow();
    const { frameEndMs } = options;
    if (frameEndMs === undefined || !snapshot.modes.synchronizedOutput) return snapshot;
    return this.#frameEnd(frameEndMs);
  }

  /**
   * Calls `listener` with a new snapshot after a parse that changed something visible:
   * text, style, cursor, modes, signals or size; once for everything that was fed
   * until then. Not called for what was fed before the subscription and looked at.
   */
  onChange(listener: (snapshot: ScreenSnapshot) => void): Disposable {
    if (this.#listeners === 0 && !this.#disposed && this.#internals.parse) {
      this.#announcedRevision = (this.#last ?? this.#snapshot()).revision;
    }
    this.#listeners += 1;
    const subscription = this.#changes.on('change', listener);
    let active = true;
    return {
      [Symbol.dispose]: () => {
        if (!active) return;
        active = false;
        this.#listeners -= 1;
        subscription[Symbol.dispose]();
      },
    };
  }

  /** Everything fed so far is parsed at the old size first. */
  resize(cols: number, rows: number): void {
    if (this.#disposed) return;
    this.#parse();
    this.#terminal.resize(cols, rows);
    this.#internals.mendRows?.();
    this.#markAllDirty();
    this.#announceSoon();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#unparsed = [];
    this.#changes.clear();
    this.#terminal.dispose();
  }

  async #lookNow(): Promise<ScreenSnapshot> {
    if (this.#disposed)
      throw new CodedError('SCREEN_DISPOSED', 'the screen is closed; look at a live one');
    this.#parse();
    if (!this.#internals.parse)
      await new Promise<void>((resolve) => this.#terminal.write('', resolve));
    return this.#snapshot();
  }

  #frameEnd(frameEndMs: number): Promise<ScreenSnapshot> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        subscription[Symbol.dispose]();
        timer[Symbol.dispose]();
        this.#lookNow().then(resolve, reject);
      };
      const subscription = this.onChange((snapshot) => {
        if (!snapshot.modes.synchronizedOutput) end();
      });
      const timer = this.#clock.setTimer(frameEndMs, end);
    });
  }

  #parse(): void {
    if (this.#unparsed.length === 0 || this.#disposed) return;
    const chunks = this.#unparsed;
    this.#unparsed = [];
    this.#unparsedBytes = 0;
    for (const chunk of chunks) {
      this.#bytesParsed += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length;
      const data = typeof chunk === 'string' ? chunk : this.#utf8Border.join(chunk);
      if (data.length === 0) continue;
      if (this.#internals.parse) this.#internals.parse(data);
      else this.#terminal.write(data);
    }
  }

  #announceSoon(): void {
    if (this.#listeners === 0 || this.#disposed) return;
    if (this.#internals.parse) this.#announce();
    else this.#terminal.write('', () => this.#announce());
  }

  #announce(): void {
    if (this.#disposed) return;
    const snapshot = this.#snapshot();
    if (snapshot.revision === this.#announcedRevision) return;
    this.#announcedRevision = snapshot.revision;
    this.#changes.emit('change', snapshot);
  }

  #mode(params: (number | number[])[], on: boolean): boolean {
    for (const param of params) {
      if (param === 25) this.#cursorVisible = on;
      else if (param === 47 || param === 1047 || param === 1049) this.#markAllDirty();
    }
    return false;
  }

  #reset(): boolean {
    this.#cursorVisible = true;
    this.#markAllDirty();
    return false;
  }

  #markDirty(from: number, to: number): void {
    if (from < this.#dirtyFrom) this.#dirtyFrom = from;
    if (to > this.#dirtyTo) this.#dirtyTo = to;
  }

  #markAllDirty(): void {
    this.#dirtyFrom = 0;
    this.#dirtyTo = Number.MAX_SAFE_INTEGER;
  }

  #readRows(): readonly ScreenRow[] {
    const terminal = this.#terminal;
    const before = this.#last?.rows;
    const whole = before?.length !== terminal.rows || !this.#internals.onDirtyRows;
    const from = whole ? 0 : this.#dirtyFrom;
    const to = whole ? terminal.rows - 1 : Math.min(this.#dirtyTo, terminal.rows - 1);
    this.#dirtyFrom = Number.MAX_SAFE_INTEGER;
    this.#dirtyTo = -1;
    let rows: ScreenRow[] | undefined = whole ? [] : undefined;
    const buffer = terminal.buffer.active;
    for (let y = from; y <= to; y += 1) {
      const line = buffer.getLine(buffer.viewportY + y);
      const row = line ? this.#rowReader.read(line, before?.[y], terminal.cols) : emptyRow;
      if (!rows && row !== before?.[y]) rows = before ? before.slice() : [];
      if (rows) rows[y] = row;
    }
    if (!rows) return before ?? [];
    return before?.length === rows.length && rows.every((row, y) => row === before[y])
      ? before
      : rows;
  }

  #snapshot(): ScreenSnapshot {
    const last = this.#last;
    const terminal = this.#terminal;
    const buffer = terminal.buffer.active;
    const rows = this.#readRows();
    const { cursorX: column, cursorY: row } = buffer;
    const cursor =
      last?.cursor.column === column && last.cursor.row === row ? last.cursor : { column, row };
    const { bracketedPasteMode, synchronizedOutputMode } = terminal.modes;
    const modes = keepModes(last?.modes, {
      bracketedPaste: bracketedPasteMode,
      alternateScreen: buffer.type === 'alternate',
      cursorVisible: this.#cursorVisible,
      synchronizedOutput: synchronizedOutputMode || !this.#certain,
    });
    const signalsSeen =
      this.#signals === last?.signals ? this.#signalsSeen : contentOf(this.#signals);
    const same =
      last !== undefined &&
      rows === last.rows &&
      cursor === last.cursor &&
      modes === last.modes &&
      terminal.cols === last.cols &&
      signalsSeen === this.#signalsSeen;
    this.#signalsSeen = signalsSeen;
    this.#last = {
      revision: last === undefined ? 0 : same ? last.revision : last.revision + 1,
      bytesParsed: this.#bytesParsed,
      atMs: this.#clock.nowMs(),
      cols: terminal.cols,
      rows,
      cursor,
      modes,
      signals: this.#signals,
    };
    return this.#last;
  }
}

const emptyRow: ScreenRow = { text: '', runs: [], wrapped: false };

function keepModes(old: TerminalModes | undefined, modes: TerminalModes): TerminalModes {
  return old &&
    old.bracketedPaste === modes.bracketedPaste &&
    old.alternateScreen === modes.alternateScreen &&
    old.cursorVisible === modes.cursorVisible &&
    old.synchronizedOutput === modes.synchronizedOutput
    ? old
    : modes;
}

/** What signals say, their times left out: the same said again is no change. */
function contentOf({ title, programState }: TerminalSignals): string {
  return JSON.stringify([
    title?.text ?? null,
    programState && [programState.state, programState.app, programState.kind],
  ]);
}
