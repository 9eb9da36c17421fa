/** What is certain about one place of a draft. */
export interface Cell {
  /** A character, or the whole run of pictographs that stands there. */
  readonly char: string;
  readonly width: number;
  readonly run: boolean;
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uff60]/u;

/** Every character is itself, one cell wide. */
const plainText = /^[\n\x20-\x7e]*$/;

/** An emoji, or a part of one: these are what widths are disputed of. */
export function isPictograph(char: string): boolean {
  if ((char.codePointAt(0) ?? 0) < 0x2000) return false;
  return /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]/u.test(char);
}

/**
 * The visible characters of a text. Marks and zero-width characters are left out:
 * terminals and engines disagree on where they stand. A tab shows as one space.
 */
export function textCells(text: string): string[] {
  if (plainText.test(text)) return text.split('');
  const plain = text
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return [...plain].map((char) => (char !== '\n' && /\p{White_Space}/u.test(char) ? ' ' : char));
}

export function cellsOf(text: string): Cell[] {
  if (plainText.test(text)) {
    return text.split('').map((char) => ({ char, width: 1, run: false }));
  }
  const cells: Cell[] = [];
  for (const char of textCells(text)) {
    const last = cells.at(-1);
    if (!isPictograph(char)) cells.push({ char, width: wide.test(char) ? 2 : 1, run: false });
    else if (last?.run)
      cells[cells.length - 1] = { char: last.char + char, width: last.width + 2, run: true };
    else cells.push({ char, width: 2, run: true });
  }
  return cells;
}
