import type headless from '@xterm/headless';

/**
 * The only place that looks past the public API of @xterm/headless (6.0.0). Each part
 * is optional: without it the screen is right and slower.
 */
export interface XtermInternals {
  /** Parses `data` before it returns. Only for data that is not empty. */
  readonly parse: ((data: Uint8Array | string) => void) | null;
  /** Tells the rows each parse may have changed; undefined means all of them. */
  readonly onDirtyRows:
    | ((listener: (range: { start: number; end: number } | undefined) => void) => void)
    | null;
  /** Puts what `instead` returns in the place of the first parameter of each such sequence. */
  readonly changeFirstParameter:
    | ((sequence: ControlSequence, instead: (asked: number) => number) => void)
    | null;
  /**
   * To be called after a resize. Wrapping anew without a scrollback can leave fewer rows than
   * the screen has, and what is written to a missing one throws: they are added, blank.
   */
  readonly mendRows: (() => void) | null;
}

export interface ControlSequence {
  readonly prefix?: string;
  readonly final: string;
}

interface CoreBuffer {
  readonly lines: { readonly length: number; push(line: unknown): void };
  ybase: number;
  ydisp: number;
  y: number;
  getBlankLine(style: unknown): unknown;
}

interface Core {
  readonly rows?: number;
  readonly buffers?: { readonly normal?: CoreBuffer; readonly alt?: CoreBuffer };
  writeSync?(data: Uint8Array | string): void;
  readonly _inputHandler?: {
    readonly _parser?: {
      registerCsiHandler?(
        id: ControlSequence,
        /** `params` are the parser's own, used by the handlers behind this one. */
        handler: (parameters: { readonly params: Int32Array }) => boolean,
      ): unknown;
    };
    getAttrData?(): unknown;
    onRequestRefreshRows?(
      listener: (range: { start: number; end: number } | undefined) => void,
    ): unknown;
  };
}

export function openInternals(terminal: headless.Terminal): XtermInternals {
  const core = (terminal as unknown as { readonly _core?: Core })._core;
  const handler = core?._inputHandler;
  return {
    parse:
      core && typeof core.writeSync === 'function' ? (data) => void core.writeSync?.(data) : null,
    onDirtyRows:
      handler && typeof handler.onRequestRefreshRows === 'function'
        ? (listener) => void handler.onRequestRefreshRows?.(listener)
        : null,
    changeFirstParameter:
      typeof handler?._parser?.registerCsiHandler === 'function'
        ? (sequence, instead) =>
            void handler._parser?.registerCsiHandler?.(sequence, ({ params }) => {
              const asked = params[0];
              if (asked !== undefined) params[0] = instead(asked);
              return false;
            })
        : null,
    mendRows:
      core?.buffers && typeof handler?.getAttrData === 'function'
        ? () => {
            const { buffers, rows = 0 } = core;
            for (const buffer of [buffers?.normal, buffers?.alt]) {
              if (buffer) mendRows(buffer, rows, handler.getAttrData?.());
            }
          }
        : null,
  };
}

function mendRows(buffer: CoreBuffer, rows: number, style: unknown): void {
  // An alternate screen that was never used has no rows at all.
  if (buffer.lines.length === 0 || buffer.lines.length >= buffer.ybase + rows) return;
  buffer.ybase = Math.max(0, buffer.lines.length - rows);
  buffer.ydisp = buffer.ybase;
  while (buffer.lines.length < rows) buffer.lines.push(buffer.getBlankLine(style));
  buffer.y = Math.min(buffer.y, rows - 1);
}

/** A row of the terminal's buffer. The object stays with its cells as they scroll. */
export interface RawRow {
  /** Three words a cell: content, foreground, background. Written to as the terminal parses. */
  readonly _data: Uint32Array;
  readonly length: number;
  readonly isWrapped: boolean;
}

/** The row behind a view of it; null when this version keeps its cells elsewhere. */
export function rawRow(line: headless.IBufferLine): RawRow | null {
  const row = (line as unknown as { readonly _line?: Partial<RawRow> })._line;
  return row?._data instanceof Uint32Array && row._data.length === line.length * wordsPerCell
    ? (row as RawRow)
    : null;
}

export const wordsPerCell = 3;

/** Content word: 21 bits of code point, then "combined", then two bits of width. */
export const codePointMask = 0x1fffff;
export const combinedBit = 0x200000;
export const widthShift = 22;

/** Colour of a foreground or background word: mode in bits 25 and 26, value below. */
export const colourMask = 0x3ffffff;
export const colourModeMask = 0x3000000;
export const colourModeRgb = 0x3000000;
export const rgbMask = 0xffffff;
export const paletteMask = 0xff;

export const foregroundInverse = 0x4000000;
export const foregroundBold = 0x8000000;
export const backgroundItalic = 0x4000000;
export const backgroundDim = 0x8000000;

/** The bits of each word that a `CellStyle` shows. */
export const styleForegroundMask: number = colourMask | foregroundInverse | foregroundBold;
export const styleBackgroundMask: number = colourMask | backgroundItalic | backgroundDim;
