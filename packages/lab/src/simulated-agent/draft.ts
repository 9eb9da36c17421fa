import { cellWidth } from './cells.js';
import type { CollapseRule } from './script.js';

/** One thing the cursor steps over: a character, or a whole collapsed paste. */
interface Atom {
  readonly text: string;
  /** The marker shown in place of the text. */
  readonly label: string | null;
}

export interface Span {
  readonly text: string;
  readonly style: 'plain' | 'marker' | 'cursor';
}

export interface DraftRows {
  readonly rows: readonly (readonly Span[])[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

const maxDraftCharacters = 256 * 1024;

/** The unsent text of a composer, with its cursor and its collapsed pastes. */
export class Draft {
  #atoms: Atom[] = [];
  #cursor = 0;
  #collapsedCount = 0;

  get isEmpty(): boolean {
    return this.#atoms.length === 0;
  }

  /** The text with every collapsed paste written out. */
  get text(): string {
    return this.#atoms.map((atom) => atom.text).join('');
  }

  /** The text as it looks: markers stay markers. */
  get visibleText(): string {
    return this.#atoms.map((atom) => atom.label ?? atom.text).join('');
  }

  type(text: string): void {
    this.#insert([...clean(text)].map((character) => ({ text: character, label: null })));
  }

  paste(text: string, rule: CollapseRule | null): void {
    const cleaned = clean(text);
    const label = rule ? this.#label(cleaned, rule) : null;
    if (label === null) this.type(cleaned);
    else this.#insert([{ text: cleaned, label }]);
  }

  backspace(): void {
    if (this.#cursor > 0) this.#atoms.splice(--this.#cursor, 1);
  }

  move(by: number): void {
    this.#cursor = Math.min(this.#atoms.length, Math.max(0, this.#cursor + by));
  }

  deleteToStart(): void {
    this.#atoms.splice(0, this.#cursor);
    this.#cursor = 0;
  }

  clear(): void {
    this.#atoms = [];
    this.#cursor = 0;
  }

  /** Rows at a width of `columns`; the cursor needs one column more. */
  layout(columns: number): DraftRows {
    const rows: Span[][] = [];
    let row: Span[] = [];
    let width = 0;
    let cursorRow = 0;
    let cursorColumn = 0;
    const put = (text: string, style: Span['style']): void => {
      const last = row.at(-1);
      if (last && last.style === style) row[row.length - 1] = { text: last.text + text, style };
      else row.push({ text, style });
    };
    const wrapRow = (): void => {
      rows.push(row);
      row = [];
      width = 0;
    };
    for (const [index, atom] of this.#atoms.entries()) {
      const characters =
        atom.label !== null ? [...atom.label] : atom.text === '\t' ? [...'    '] : [atom.text];
      for (const [offset, character] of characters.entries()) {
        const step = character === '\n' ? 0 : cellWidth(character);
        if (width + step > columns) wrapRow();
        const underCursor = index === this.#cursor && offset === 0;
        if (underCursor) {
          cursorRow = rows.length;
          cursorColumn = width;
        }
        if (character === '\n') {
          if (underCursor) put(' ', 'cursor');
          wrapRow();
        } else {
          put(character, underCursor ? 'cursor' : atom.label === null ? 'plain' : 'marker');
          width += step;
        }
      }
    }
    if (this.#cursor === this.#atoms.length) {
      cursorRow = rows.length;
      cursorColumn = width;
      put(' ', 'cursor');
    }
    rows.push(row);
    return { rows, cursorRow, cursorColumn };
  }

  #insert(atoms: readonly Atom[]): void {
    const room = maxDraftCharacters - this.#atoms.length;
    const fitting = atoms.slice(0, Math.max(0, room));
    this.#atoms = [
      ...this.#atoms.slice(0, this.#cursor),
      ...fitting,
      ...this.#atoms.slice(this.#cursor),
    ];
    this.#cursor += fitting.length;
  }

  #label(text: string, rule: CollapseRule): string | null {
    const characters = [...text].length;
    const newlines = text.split('\n').length - 1;
    const bySize = rule.characters !== null && characters > rule.characters;
    const byLines = rule.newlines !== null && newlines > rule.newlines;
    if (!bySize && !byLines) return null;
    this.#collapsedCount += 1;
    if (rule.style === 'numbered') {
      return `[Pasted text #${this.#collapsedCount}${newlines > 0 ? ` +${newlines} lines` : ''}]`;
    }
    const label = `[Pasted Content ${characters} chars]`;
    const before = this.#atoms.filter((atom) => atom.label?.startsWith(label.slice(0, -1))).length;
    return before === 0 ? label : `${label.slice(0, -1)} #${before + 1}]`;
  }
}

/** What a composer keeps of inserted text: line ends become LF, other control characters go. */
export function clean(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
