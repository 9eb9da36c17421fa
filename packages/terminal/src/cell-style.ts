import type headless from '@xterm/headless';
import type { CellStyle, Colour } from './snapshot.js';
import {
  backgroundDim,
  backgroundItalic,
  colourModeMask,
  colourModeRgb,
  foregroundBold,
  foregroundInverse,
  paletteMask,
  rgbMask,
} from './xterm-internals.js';

export const defaultStyle: CellStyle = {
  bold: false,
  dim: false,
  inverse: false,
  italic: false,
  foreground: null,
  background: null,
};

const maxCachedStyles = 2_048;

/** Styles by their two words, so that equal styles are one object. */
export class StyleCache {
  readonly #styles = new Map<number, Map<number, CellStyle>>();
  #count = 0;

  /** Both words masked to the bits a style shows. */
  get(foreground: number, background: number): CellStyle {
    if (foreground === 0 && background === 0) return defaultStyle;
    const known = this.#styles.get(foreground)?.get(background);
    if (known) return known;
    if (this.#count >= maxCachedStyles) {
      this.#styles.clear();
      this.#count = 0;
    }
    const style: CellStyle = {
      bold: (foreground & foregroundBold) !== 0,
      dim: (background & backgroundDim) !== 0,
      inverse: (foreground & foregroundInverse) !== 0,
      italic: (background & backgroundItalic) !== 0,
      foreground: colourOfWord(foreground),
      background: colourOfWord(background),
    };
    let byBackground = this.#styles.get(foreground);
    if (!byBackground) {
      byBackground = new Map();
      this.#styles.set(foreground, byBackground);
    }
    byBackground.set(background, style);
    this.#count += 1;
    return style;
  }
}

function colourOfWord(word: number): Colour {
  const mode = word & colourModeMask;
  if (mode === 0) return null;
  return mode === colourModeRgb ? rgb(word & rgbMask) : word & paletteMask;
}

function rgb(value: number): Colour {
  return `#${value.toString(16).padStart(6, '0')}`;
}

/** The same through the public API. */
export function styleOfCell(cell: headless.IBufferCell): CellStyle {
  return {
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    inverse: cell.isInverse() !== 0,
    italic: cell.isItalic() !== 0,
    foreground: publicColour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
    background: publicColour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()),
  };
}

function publicColour(isDefault: boolean, isRgb: boolean, value: number): Colour {
  if (isDefault) return null;
  return isRgb ? rgb(value) : value;
}

export function sameStyle(a: CellStyle, b: CellStyle): boolean {
  return (
    a === b ||
    (a.bold === b.bold &&
      a.dim === b.dim &&
      a.inverse === b.inverse &&
      a.italic === b.italic &&
      a.foreground === b.foreground &&
      a.background === b.background)
  );
}
