import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { TerminalSignals } from './snapshot.js';
import { wordsPerCell } from './xterm-internals.js';
import type {
  XtermAttributes,
  XtermBuffer,
  XtermCharset,
  XtermCore,
  XtermLine,
} from './xterm-state.js';

/** Says how a checkpoint is written; another one is not read. */
const format = 'ostler-screen 1, @xterm/headless 6.0.0';
const maxStateBytes = 64 * 1024 * 1024;
/** The parser between two sequences. */
const groundState = 0;

type Attributes = readonly [fg: number, bg: number, ext: number];

interface LineState {
  readonly cells: string;
  readonly wrapped: boolean;
  readonly combined: Readonly<Record<string, string>>;
  readonly extended: Readonly<Record<string, number>>;
}

interface BufferState {
  readonly numbers: readonly number[];
  readonly tabs: readonly string[];
  readonly savedCharset: XtermCharset | null;
  readonly saved: Attributes;
  readonly lines: readonly LineState[];
}

/** What a screen knows beside its terminal. */
export interface ScreenExtra {
  readonly cols: number;
  readonly rows: number;
  readonly cursorVisible: boolean;
  readonly signals: TerminalSignals;
}

interface CoreState extends ScreenExtra {
  readonly format: string;
  readonly alternate: boolean;
  readonly normal: BufferState;
  readonly alt: BufferState | null;
  readonly pen: Attributes;
  readonly preceding: number;
  readonly cursorHidden: boolean;
  readonly modes: Readonly<Record<string, unknown>>;
  readonly privateModes: Readonly<Record<string, unknown>>;
  readonly mouse: readonly [protocol: string, encoding: string];
  readonly charsets: readonly (XtermCharset | null)[];
  readonly charset: XtermCharset | null;
  readonly charsetLevel: number;
}

/**
 * The whole state of a terminal without scrollback, both buffers, cell for cell; null
 * in the middle of a sequence, and where this terminal keeps more than that.
 *
 * Written cell for cell because sequences that paint a screen don't give it back: a
 * scroll region, saved cursors, tab stops, a pending wrap, halves of wide characters
 * and what joins the last one have no sequence of their own.
 */
export function writeCheckpoint(core: XtermCore, extra: ScreenExtra): Uint8Array | null {
  if (core._inputHandler._parser.currentState !== groundState) return null;
  const { buffers, coreService, coreMouseService, _charsetService: charsets } = core;
  const alternate = buffers.active === buffers.alt;
  const normal = writeBuffer(buffers.normal, extra);
  const alt = alternate ? writeBuffer(buffers.alt, extra) : null;
  if (!normal || (alternate && !alt)) return null;
  const state: CoreState = {
    format,
    ...extra,
    alternate,
    normal,
    alt,
    pen: writeAttributes(core._inputHandler._curAttrData),
    preceding: core._inputHandler._parser.precedingJoinState,
    cursorHidden: coreService.isCursorHidden,
    modes: coreService.modes,
    privateModes: coreService.decPrivateModes,
    mouse: [coreMouseService.activeProtocol, coreMouseService.activeEncoding],
    charsets: Array.from(charsets._charsets, (charset) => charset ?? null),
    charset: charsets.charset ?? null,
    charsetLevel: charsets.glevel,
  };
  return deflateRawSync(JSON.stringify(state), { level: 1 });
}

/** A checkpoint's content, or null when it was written in another way or is damaged. */
export function readCheckpoint(blob: Uint8Array): CoreState | null {
  try {
    const text = inflateRawSync(blob, { maxOutputLength: maxStateBytes }).toString('utf8');
    const state: unknown = JSON.parse(text);
    return isState(state) ? state : null;
  } catch (failure) {
    if (failure instanceof Error) return null;
    throw failure;
  }
}

/** The format names who wrote it: what is checked is what a damaged one would break. */
function isState(state: unknown): state is CoreState {
  if (typeof state !== 'object' || state === null) return false;
  const { format: written, cols, rows, normal, alt, alternate } = state as Partial<CoreState>;
  if (written !== format || !isCount(cols) || !isCount(rows) || !normal) return false;
  if (alternate !== (alt != null)) return false;
  return [normal, ...(alt ? [alt] : [])].every(
    ({ lines, numbers }) =>
      lines.length === rows &&
      numbers.every(Number.isSafeInteger) &&
      lines.every(({ cells }) => Buffer.byteLength(cells, 'base64') === cols * bytesPerCell),
  );
}

const bytesPerCell: number = wordsPerCell * Uint32Array.BYTES_PER_ELEMENT;

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** Puts a fresh terminal of the checkpoint's size into its state. */
export function restoreCheckpoint(core: XtermCore, state: CoreState): void {
  const { buffers, coreService, coreMouseService, _charsetService: charsets } = core;
  restoreBuffer(buffers.normal, state.normal, core);
  if (state.alt) {
    buffers.activateAltBuffer();
    restoreBuffer(buffers.alt, state.alt, core);
  }
  restoreAttributes(core._inputHandler._curAttrData, state.pen);
  core._inputHandler._parser.precedingJoinState = state.preceding;
  coreService.isCursorHidden = state.cursorHidden;
  Object.assign(coreService.modes, state.modes);
  Object.assign(coreService.decPrivateModes, state.privateModes);
  [coreMouseService.activeProtocol, coreMouseService.activeEncoding] = state.mouse;
  charsets._charsets = state.charsets.map((charset) => charset ?? undefined);
  charsets.charset = state.charset ?? undefined;
  charsets.glevel = state.charsetLevel;
}

function writeBuffer(buffer: XtermBuffer, { cols, rows }: ScreenExtra): BufferState | null {
  const { x, y, ybase, ydisp, savedX, savedY, scrollTop, scrollBottom } = buffer;
  if (buffer.lines.length !== rows || ybase !== 0 || ydisp !== 0) return null;
  const lines: LineState[] = [];
  for (let row = 0; row < rows; row += 1) {
    const line = buffer.lines.get(row);
    if (line?._data.length !== cols * wordsPerCell) return null;
    lines.push(writeLine(line));
  }
  return {
    numbers: [x, y, savedX, savedY, scrollTop, scrollBottom],
    tabs: Object.keys(buffer.tabs).filter((column) => buffer.tabs[column]),
    savedCharset: buffer.savedCharset ?? null,
    saved: writeAttributes(buffer.savedCurAttrData),
    lines,
  };
}

function writeLine(line: XtermLine): LineState {
  const { _data: cells } = line;
  const extended = Object.entries(line._extendedAttrs).flatMap(([column, attributes]) =>
    attributes ? [[column, attributes.ext] as const] : [],
  );
  return {
    cells: Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength).toString('base64'),
    wrapped: line.isWrapped,
    combined: line._combined,
    extended: Object.fromEntries(extended),
  };
}

function restoreBuffer(buffer: XtermBuffer, state: BufferState, core: XtermCore): void {
  const [x = 0, y = 0, savedX = 0, savedY = 0, scrollTop = 0, scrollBottom = 0] = state.numbers;
  Object.assign(buffer, { x, y, savedX, savedY, scrollTop, scrollBottom });
  buffer.tabs = Object.fromEntries(state.tabs.map((column) => [column, true]));
  buffer.savedCharset = state.savedCharset ?? undefined;
  restoreAttributes(buffer.savedCurAttrData, state.saved);
  state.lines.forEach((written, row) => {
    const line = buffer.lines.get(row);
    if (line) restoreLine(line, written, core);
  });
}

function restoreLine(line: XtermLine, state: LineState, core: XtermCore): void {
  const bytes = Uint8Array.from(Buffer.from(state.cells, 'base64'));
  line._data.set(new Uint32Array(bytes.buffer, 0, line._data.length));
  line.isWrapped = state.wrapped;
  line._combined = { ...state.combined };
  line._extendedAttrs = {};
  for (const [column, ext] of Object.entries(state.extended)) {
    const extended = core._inputHandler._curAttrData.extended.clone();
    extended.urlId = 0;
    extended.ext = ext;
    line._extendedAttrs[column] = extended;
  }
}

function writeAttributes({ fg, bg, extended }: XtermAttributes): Attributes {
  return [fg, bg, extended.ext];
}

function restoreAttributes(attributes: XtermAttributes, [fg, bg, ext]: Attributes): void {
  attributes.fg = fg;
  attributes.bg = bg;
  attributes.extended = attributes.extended.clone();
  attributes.extended.urlId = 0;
  attributes.extended.ext = ext;
}
