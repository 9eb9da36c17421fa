import type headless from '@xterm/headless';
import {
  type CharTraits,
  isIndicator,
  isPictograph,
  isTone,
  narrow,
  takesTone,
  traitsOf,
  wide,
  widthMask,
} from './cell-width.js';

/**
 * Code points one cell may hold. The terminal can't leave a character out, so the next
 * one begins a cell of its own: no text makes a cell grow on and on.
 */
export const maxCodePointsPerCell = 128;

const lastAscii = 0x7e;
const zeroWidthJoiner = 0x200d;

/**
 * The terminal hands what we said of one character back with the next: bit 0 says that
 * it joined the cell before it, bits 1 and 2 give the cell's width, and the 24 above are
 * ours: which joins the cell is open to, and how many code points have joined it.
 * 0 is no character before, as behind any control character or sequence.
 */
type CharProperties = number;

const joinedBit = 1;
const cellWidthShift = 1;
const cellWidthMask = 0b11;
const openShift = 3;
const openMask = 0b1111;
const countShift = 7;

/** Joins that a cell is open to. */
const pictograph = 1 << 0;
const tone = 1 << 1;
/** It holds one half of a flag. */
const otherIndicator = 1 << 2;
/** A joiner stands behind its pictograph. */
const nextPictograph = 1 << 3;

const narrowAlone: CharProperties = 1 << cellWidthShift;
const wideAlone: CharProperties = 2 << cellWidthShift;

/**
 * Gives emoji sequences, flags and marks the cells that coding agents count for them
 * when they lay a row out. A row that is wider here than there would wrap, and all that
 * is painted relative to it would be out of place; one that is narrower leaves a column
 * as it was. So where they differ the least counts of those that don't set their
 * column anew behind such a character (claude 2.1.280,
 * fixtures/claude/2.1.280/emoji.cast; codex 0.156.1 and 0.169.0).
 *
 * A presentation selector widens nothing: Codex writes a blank for the second column
 * itself, and Claude sets its column.
 */
export const unicodeProvider: headless.IUnicodeVersionProvider = {
  version: 'ostler',

  wcwidth(codePoint) {
    const width = traitsOf(codePoint) & widthMask;
    return width === 0 ? 0 : width === 1 ? 1 : 2;
  },

  charProperties(codePoint, preceding): CharProperties {
    if (codePoint <= lastAscii) return narrowAlone;
    const traits = traitsOf(codePoint);
    if (traits === narrow) return narrowAlone;
    if (traits === wide) return wideAlone;
    if (preceding === 0) return alone(traits);
    const count = preceding >> countShift;
    if (count + 1 >= maxCodePointsPerCell) return alone(traits);
    return join(codePoint, traits, preceding, count + 1) ?? alone(traits);
  },
};

function alone(traits: CharTraits): CharProperties {
  // What has no cell to join takes one.
  return ((traits & widthMask || 1) << cellWidthShift) | (openJoins(traits) << openShift);
}

function openJoins(traits: CharTraits): number {
  if (traits & isPictograph) return traits & takesTone ? pictograph | tone : pictograph;
  return traits & isIndicator ? otherIndicator : 0;
}

/** The properties of a cell that this code point joins; null when it begins another. */
function join(
  codePoint: number,
  traits: CharTraits,
  preceding: CharProperties,
  count: number,
): CharProperties | null {
  const open = (preceding >> openShift) & openMask;
  const width = (preceding >> cellWidthShift) & cellWidthMask;
  if ((traits & widthMask) === 0) return joined(width, openBehindMark(codePoint, open), count);
  if (traits & isTone && open & tone) return joined(2, open & ~tone, count);
  if (traits & isPictograph && open & nextPictograph) return joined(2, openJoins(traits), count);
  if (traits & isIndicator && open & otherIndicator) return joined(2, 0, count);
  return null;
}

function openBehindMark(codePoint: number, open: number): number {
  const joins = codePoint === zeroWidthJoiner ? pictograph | nextPictograph : pictograph;
  return open & pictograph ? joins : 0;
}

function joined(width: number, open: number, count: number): CharProperties {
  return (count << countShift) | (open << openShift) | (width << cellWidthShift) | joinedBit;
}
