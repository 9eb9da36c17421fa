const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]$/u;

/** Columns a code point takes at most; a terminal may give an emoji one less, never more. */
export function cellWidth(character: string): 0 | 1 | 2 {
  if (character < '\u0300') return 1;
  if (zeroWidth.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += cellWidth(character);
  return width;
}

/** The beginning of `text` that fits, with `…` where it was cut. */
export function clip(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let out = '';
  let width = 0;
  for (const character of text) {
    width += cellWidth(character);
    if (width > columns - 1) break;
    out += character;
  }
  return `${out}…`;
}

/** Breaks `text` at the width, hard; LF starts a row, a tab is four blanks. */
export function wrap(text: string, columns: number): string[] {
  const rows: string[] = [];
  for (const line of text.split('\n')) {
    let row = '';
    let width = 0;
    for (const character of line.replaceAll('\t', '    ')) {
      const step = cellWidth(character);
      if (width + step > columns) {
        rows.push(row);
        row = '';
        width = 0;
      }
      row += character;
      width += step;
    }
    rows.push(row);
  }
  return rows;
}
