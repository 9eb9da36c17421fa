/** A colour as the program asked for it: palette index 0–255, or `#rrggbb`. Null is the default. */
export type Colour = number | `#${string}` | null;

export interface CellStyle {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly inverse: boolean;
  readonly italic: boolean;
  readonly foreground: Colour;
  readonly background: Colour;
}

/** Neighbouring cells of one style. */
export interface StyledRun {
  /** Column of the first cell. */
  readonly column: number;
  readonly text: string;
  readonly style: CellStyle;
}

/** One row. Rows that did not change keep their identity from snapshot to snapshot. */
export interface ScreenRow {
  /** The row's text, trailing blanks trimmed. */
  readonly text: string;
  /** Runs covering the row from column 0, trailing default-styled blanks left out. */
  readonly runs: readonly StyledRun[];
  /** True when this row continues the one above (the terminal wrapped it). */
  readonly wrapped: boolean;
}

export interface TerminalModes {
  /** Mode 2004: paste brackets are wanted. */
  readonly bracketedPaste: boolean;
  readonly alternateScreen: boolean;
  readonly cursorVisible: boolean;
  /** Mode 2026 is on: a frame is half painted and must not be read as a screen. */
  readonly synchronizedOutput: boolean;
}

/**
 * What a program says of itself beside the screen, each with the time it last arrived.
 * The same said again moves the time and is no new revision. Texts are cut to 512
 * characters.
 */
export interface TerminalSignals {
  /** OSC 0 or 2. */
  readonly title: { readonly text: string; readonly atMs: number } | null;
  /** OSC 7501: `state=…:app=…:kind=…`. */
  readonly programState: {
    readonly state: string;
    readonly app: string | null;
    readonly kind: string | null;
    readonly atMs: number;
  } | null;
}

/** The visible screen at one instant: everything read up to `bytesParsed` is on it. */
export interface ScreenSnapshot {
  /** Rises with every parsed change; equal revisions are the same screen. */
  readonly revision: number;
  /** Bytes of output parsed since launch. */
  readonly bytesParsed: number;
  readonly atMs: number;
  readonly cols: number;
  /** Exactly as many rows as the terminal has. */
  readonly rows: readonly ScreenRow[];
  readonly cursor: { readonly column: number; readonly row: number };
  readonly modes: TerminalModes;
  readonly signals: TerminalSignals;
}
