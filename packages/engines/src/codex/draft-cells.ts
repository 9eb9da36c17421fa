/** One visible character of a draft. */
export interface Cell {
  readonly char: string;
  /** Columns, the parts of an emoji each counted as one of its own: rather too many. */
  readonly width: number;
  /** So many columns behind it may be blank or still show what stood there before. */
  readonly columnsLeft: number;
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uff60]/u;

/** An emoji, or a part of one. The code points below are text that may become one. */
const pictograph = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]/u;
const firstPictograph = 0x2000;

const mark = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const marks = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
/**
 * Emoji the engine keeps more columns for than the terminal fills: those with a
 * presentation selector, whose later columns it writes as blanks, and those that end
 * in a joined symbol without one (codex 0.156.1 and 0.169.0, by its cursor's column).
 */
const emoji =
  /[\p{Extended_Pictographic}0-9#*](?:[\ufe0f\u20e3\p{Emoji_Modifier}]|\u200d\p{Extended_Pictographic})*/gu;
const selector = '\ufe0f';
const toneBehindSelector = /\ufe0f\p{Emoji_Modifier}/u;
const endsInTextSymbol = /\u200d(?!\p{Emoji_Presentation})\p{Extended_Pictographic}$/u;
/** What the engine counts a column for and the terminal none. */
const indicSign = /(?=[\u0900-\u0d4f])\p{Mc}/u;

/** Every character is itself, one cell wide. */
const plainText = /^[\n\x20-\x7e]*$/;

/**
 * The visible characters of a text. Marks and zero-width characters are left out:
 * terminals and engines disagree on where they stand. A tab shows as one space.
 */
export function textCells(text: string): string[] {
  if (plainText.test(text)) return text.split('');
  return Array.from(text.normalize('NFD').replace(marks, ''), visible);
}

export function cellsOf(text: string): Cell[] {
  if (plainText.test(text)) {
    return text.split('').map((char) => ({ char, width: 1, columnsLeft: 0 }));
  }
  const plain = text.normalize('NFD');
  const leftAt = columnsLeftAt(plain);
  const cells: Cell[] = [];
  let end = 0;
  for (const char of plain) {
    end += char.length;
    const left = leftAt.get(end) ?? (indicSign.test(char) ? 1 : 0);
    const last = cells.at(-1);
    if (!mark.test(char)) {
      cells.push({ char: visible(char), width: widthOf(char) + left, columnsLeft: left });
    } else if (last && left > 0) {
      const columnsLeft = last.columnsLeft + left;
      cells[cells.length - 1] = { ...last, width: last.width + left, columnsLeft };
    }
  }
  return cells;
}

/** Where in the text an emoji ends that leaves columns, and how many. */
function columnsLeftAt(text: string): ReadonlyMap<number, number> {
  const left = new Map<number, number>();
  for (const { 0: sequence, index } of text.matchAll(emoji)) {
    const columns = toneBehindSelector.test(sequence)
      ? 2
      : sequence.includes(selector) || endsInTextSymbol.test(sequence)
        ? 1
        : 0;
    if (columns > 0) left.set(index + sequence.length, columns);
  }
  return left;
}

function visible(char: string): string {
  return char !== '\n' && /\p{White_Space}/u.test(char) ? ' ' : char;
}

function widthOf(char: string): number {
  const isPictograph = (char.codePointAt(0) ?? 0) >= firstPictograph && pictograph.test(char);
  return isPictograph || wide.test(char) ? 2 : 1;
}
