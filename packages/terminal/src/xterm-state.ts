import type headless from '@xterm/headless';

/**
 * What a screen is made of inside @xterm/headless (6.0.0): the other place, beside
 * xterm-internals.ts, that looks past its public API. Read to write a checkpoint, and
 * written to when a screen begins from one.
 */
export interface XtermCore {
  readonly buffers: {
    readonly active: XtermBuffer;
    readonly normal: XtermBuffer;
    readonly alt: XtermBuffer;
    activateAltBuffer(): void;
  };
  readonly coreService: {
    isCursorHidden: boolean;
    readonly modes: Record<string, unknown>;
    readonly decPrivateModes: Record<string, unknown>;
  };
  readonly coreMouseService: { activeProtocol: string; activeEncoding: string };
  readonly _charsetService: {
    charset: XtermCharset | undefined;
    glevel: number;
    _charsets: (XtermCharset | undefined)[];
  };
  readonly _inputHandler: {
    readonly _curAttrData: XtermAttributes;
    readonly _parser: { readonly currentState: number; precedingJoinState: number };
  };
}

export type XtermCharset = Readonly<Record<string, string>>;

export interface XtermAttributes {
  fg: number;
  bg: number;
  extended: XtermExtended;
}

export interface XtermExtended {
  ext: number;
  urlId: number;
  clone(): XtermExtended;
}

export interface XtermBuffer {
  x: number;
  y: number;
  ybase: number;
  ydisp: number;
  savedX: number;
  savedY: number;
  scrollTop: number;
  scrollBottom: number;
  tabs: Record<string, boolean | undefined>;
  savedCharset: XtermCharset | undefined;
  readonly savedCurAttrData: XtermAttributes;
  readonly lines: { readonly length: number; get(index: number): XtermLine | undefined };
}

export interface XtermLine {
  readonly length: number;
  isWrapped: boolean;
  readonly _data: Uint32Array;
  _combined: Record<string, string>;
  _extendedAttrs: Record<string, XtermExtended | undefined>;
}

/** Null when this version is built otherwise. */
export function openCore(terminal: headless.Terminal): XtermCore | null {
  const core = (terminal as unknown as { readonly _core?: Partial<XtermCore> })._core;
  const line = core?.buffers?.active?.lines?.get(0);
  const handler = core?._inputHandler;
  const known =
    core?.coreService?.decPrivateModes &&
    core.coreMouseService &&
    core._charsetService?._charsets &&
    handler?._curAttrData.extended &&
    typeof handler._parser.currentState === 'number' &&
    typeof handler._parser.precedingJoinState === 'number' &&
    line?._data instanceof Uint32Array &&
    line._combined &&
    line._extendedAttrs;
  return known ? (core as XtermCore) : null;
}
