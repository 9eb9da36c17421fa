import { type Clock, systemClock } from '@ostler/runtime';
import headless from '@xterm/headless';
import type { CellStyle, Colour, ScreenRow, ScreenSnapshot, StyledRun } from './snapshot.js';

/** A headless terminal that turns output bytes into snapshots. */
export class Screen implements Disposable {
  readonly #terminal: headless.Terminal;
  readonly #clock: Clock;
  #bytesReceived = 0;
  #cursorVisible = true;
  #title: ScreenSnapshot['signals']['title'] = null;
  #programState: ScreenSnapshot['signals']['programState'] = null;

  constructor(options: {
    cols: number;
    rows: number;
    clock?: Clock;
    onReply?: (data: string) => void;
  }) {
    this.#clock = options.clock ?? systemClock;
    this.#terminal = new headless.Terminal({
      cols: options.cols,
      rows: options.rows,
      allowProposedApi: true,
      scrollback: 0,
    });
    this.#terminal.onData((data) => options.onReply?.(data));
    this.#terminal.onTitleChange((text) => {
      this.#title = { text, atMs: this.#clock.nowMs() };
    });
    this.#terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, (params) =>
      this.#mode(params, true),
    );
    this.#terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) =>
      this.#mode(params, false),
    );
    this.#terminal.parser.registerOscHandler(7501, (data) => {
      const fields = new Map(
        data.split(/[;:]/).map((pair) => pair.split('=', 2) as [string, string]),
      );
      this.#programState = {
        state: fields.get('state') ?? '',
        app: fields.get('app') ?? null,
        kind: fields.get('kind') ?? null,
        atMs: this.#clock.nowMs(),
      };
      return true;
    });
  }

  /** Takes output bytes; they are on the screen after the next `look`. */
  feed(data: Uint8Array | string): void {
    this.#bytesReceived += data.length;
    this.#terminal.write(data);
  }

  /** The parse barrier: resolves with a snapshot that shows every byte fed so far. */
  async look(): Promise<ScreenSnapshot> {
    const bytesParsed = this.#bytesReceived;
    await new Promise<void>((resolve) => this.#terminal.write('', resolve));
    return this.#snapshot(bytesParsed);
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }

  #mode(params: (number | number[])[], on: boolean): boolean {
    if (params.includes(25)) this.#cursorVisible = on;
    return false;
  }

  #snapshot(bytesParsed: number): ScreenSnapshot {
    const buffer = this.#terminal.buffer.active;
    const rows: ScreenRow[] = [];
    for (let y = 0; y < this.#terminal.rows; y += 1)
      rows.push(readRow(buffer.getLine(buffer.viewportY + y)));
    return {
      revision: bytesParsed,
      bytesParsed,
      atMs: this.#clock.nowMs(),
      cols: this.#terminal.cols,
      rows,
      cursor: { column: buffer.cursorX, row: buffer.cursorY },
      modes: {
        bracketedPaste: this.#terminal.modes.bracketedPasteMode,
        alternateScreen: buffer.type === 'alternate',
        cursorVisible: this.#cursorVisible,
        synchronizedOutput: this.#terminal.modes.synchronizedOutputMode,
      },
      signals: { title: this.#title, programState: this.#programState },
    };
  }
}

function readRow(line: headless.IBufferLine | undefined): ScreenRow {
  if (!line) return { text: '', runs: [], wrapped: false };
  const runs: { column: number; text: string; style: CellStyle }[] = [];
  let text = '';
  for (let x = 0; x < line.length; x += 1) {
    const cell = line.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const chars = cell.getChars() || ' ';
    text += chars;
    const style = readStyle(cell);
    const last = runs.at(-1);
    if (last && sameStyle(last.style, style)) last.text += chars;
    else runs.push({ column: x, text: chars, style });
  }
  const trimmed: StyledRun[] = runs;
  return { text: text.trimEnd(), runs: trimmed, wrapped: line.isWrapped };
}

function readStyle(cell: headless.IBufferCell): CellStyle {
  return {
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    inverse: cell.isInverse() !== 0,
    italic: cell.isItalic() !== 0,
    foreground: colour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
    background: colour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()),
  };
}

function colour(isDefault: boolean, isRgb: boolean, value: number): Colour {
  if (isDefault) return null;
  return isRgb ? `#${value.toString(16).padStart(6, '0')}` : value;
}

function sameStyle(a: CellStyle, b: CellStyle): boolean {
  return (
    a.bold === b.bold &&
    a.dim === b.dim &&
    a.inverse === b.inverse &&
    a.italic === b.italic &&
    a.foreground === b.foreground &&
    a.background === b.background
  );
}
