import type { PreparedBody } from '../engine.js';

/** The gap and glyph in front of a draft row, and the room the cursor keeps. */
const rowMarginCells = 4;
const maxKeyPairs = 2_000;

/**
 * Ctrl-U takes what stands left of the cursor on its row, a collapse marker whole; a
 * backspace then joins the row above. Both do nothing to an empty composer
 * (claude 2.1.328, tried by hand on drafts of 1 to 60 rows).
 */
export function eraseKeys(body: PreparedBody, cols: number): string {
  const width = Math.max(1, cols - rowMarginCells);
  const rows = body.text
    .split('\n')
    .reduce((sum, line) => sum + 1 + Math.ceil((2 * line.length) / width), 0);
  return '\u0015\u007f'.repeat(Math.min(rows + 2, maxKeyPairs));
}
