import type { ScreenRow, ScreenSnapshot } from '@ostler/terminal';

/** Row texts, top to bottom. */
export function rowTexts(snapshot: ScreenSnapshot): string[] {
  return snapshot.rows.map((row) => row.text);
}

export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

/** Index of the last row with text, or -1. */
export function lastTextRow(texts: readonly string[]): number {
  return texts.findLastIndex((text) => !isBlank(text));
}

/** The row's text from column 2 on: what stands after a glyph or an indent. */
export function afterIndent(text: string): string {
  return text.slice(2);
}

/** True where every visible character from column 2 on is painted dim, and there is one. */
export function isDimAfterIndent(row: ScreenRow): boolean {
  let found = false;
  for (const run of row.runs) {
    const text = run.column >= 2 ? run.text : run.text.slice(2 - run.column);
    if (text.trim() === '') continue;
    if (!run.style.dim) return false;
    found = true;
  }
  return found;
}
