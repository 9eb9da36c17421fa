import { eastAsianWidth } from 'get-east-asian-width';

/**
 * What is known of a code point, in one byte. Its width stands in the two lowest bits;
 * 0 is a mark or a format character, which shows in the cell before it.
 */
export type CharTraits = number;

export const widthMask = 0b11;
export const isPictograph: CharTraits = 1 << 2;
/** A pictograph that takes a skin tone. */
export const takesTone: CharTraits = 1 << 3;
export const isTone: CharTraits = 1 << 4;
/** Half a flag. */
export const isIndicator: CharTraits = 1 << 5;
const isKnown = 1 << 6;

/** The traits of most characters: one cell or two, joining nothing. */
export const narrow: CharTraits = isKnown | 1;
export const wide: CharTraits = isKnown | 2;

const codePoints = 0x110000;
/**
 * The traits found so far; 0 is not looked up yet. The system gives memory only to the
 * pages written to.
 */
const knownTraits = new Uint8Array(codePoints);

/**
 * Looks the traits of a code point up, once for each. Widths are those of Unicode's
 * East Asian Width, ambiguous ones narrow, whatever Unicode version Node has.
 */
export function traitsOf(codePoint: number): CharTraits {
  return knownTraits[codePoint] || remember(codePoint);
}

function remember(codePoint: number): CharTraits {
  const traits = isKnown | findTraits(codePoint);
  knownTraits[codePoint] = traits;
  return traits;
}

const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

function findTraits(codePoint: number): CharTraits {
  if (codePoint >= codePoints) return 1;
  const char = String.fromCodePoint(codePoint);
  if (zeroWidth.test(char) || isIndicSign(codePoint, char) || isLaterJamo(codePoint)) return 0;
  if (/^\p{Regional_Indicator}$/u.test(char)) return 1 | isIndicator;
  const width = eastAsianWidth(codePoint);
  if (/^\p{Emoji_Modifier}$/u.test(char)) return width | isTone;
  if (!/^\p{Extended_Pictographic}$/u.test(char)) return width;
  const tone = /^\p{Emoji_Modifier_Base}$/u.test(char) ? takesTone : 0;
  return width | isPictograph | tone;
}

/**
 * Vowel signs from Devanagari to Malayalam that stand beside their letter. Claude 2.1.280
 * counts no cell for them; other agents do, and set their column behind them.
 */
function isIndicSign(codePoint: number, char: string): boolean {
  return codePoint >= 0x900 && codePoint <= 0xd4f && /^\p{Mc}$/u.test(char);
}

/** Vowels and final consonants of Hangul, which show in the syllable's first cell. */
function isLaterJamo(codePoint: number): boolean {
  return (
    (codePoint >= 0x1160 && codePoint <= 0x11ff) || (codePoint >= 0xd7b0 && codePoint <= 0xd7ff)
  );
}
