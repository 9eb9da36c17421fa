/** Cells one code point takes, near enough for counting rows. */
export function cellWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (/^[\p{Mn}\p{Me}\p{Cf}\ufe0f]$/u.test(character)) return 0;
  if (code < 0x1100) return 1;
  if (/^\p{Emoji_Presentation}$/u.test(character)) return 2;
  const wide =
    code <= 0x115f ||
    (code >= 0x2e80 && code <= 0xa4cf && code !== 0x303f) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

/** Composer cells left for text: the terminal's columns less indent and margin. */
export function composerWidth(cols: number): number {
  return Math.max(1, cols - 4);
}

/**
 * How many rows the composer needs for `text`: words move to the next row whole,
 * a word longer than a row is cut, wherever it begins (claude 2.1.328,
 * fixtures/claude/2.1.328/s1-idle-drafts.cast at 7.3).
 */
export function countRows(text: string, width: number): number {
  let rows = 0;
  for (const line of text.split('\n')) rows += wrapLine(line, width).rows;
  return rows;
}

/** Cells used on the last row of `text`. */
export function lastRowCells(text: string, width: number): number {
  return wrapLine(text.slice(text.lastIndexOf('\n') + 1), width).used;
}

function wrapLine(line: string, width: number): { rows: number; used: number } {
  let rows = 1;
  let used = 0;
  for (const word of line.split(/(?<= )/)) {
    const cells = widthOf(word.trimEnd());
    const blanks = word.length - word.trimEnd().length;
    if (used > 0 && used + cells > width) {
      const startHere = 1 + Math.floor((cells - (width - used) - 1) / width);
      const startBelow = Math.floor((cells - 1) / width);
      // A word that has to be cut anyway begins on this row if that costs no more cuts.
      if (cells <= width || startBelow < startHere) {
        rows += 1;
        used = 0;
      }
    }
    used += cells;
    while (used > width) {
      rows += 1;
      used -= width;
    }
    used = Math.min(width, used + blanks);
  }
  return { rows, used };
}

const narrowText = /^[\x20-\x7e]*$/;

export function widthOf(text: string): number {
  if (narrowText.test(text)) return text.length;
  let cells = 0;
  for (const character of text) cells += cellWidth(character);
  return cells;
}
