import type { Frame } from './paint.js';

const on = '\u001b[?2026h';
const off = '\u001b[?2026l';

/** Turns frames into terminal output: only the lines that changed, and whole after a resize. */
export class Painter {
  readonly #synchronized: boolean;
  #shown: readonly string[] = [];
  #whole = true;

  constructor(synchronized: boolean) {
    this.#synchronized = synchronized;
  }

  /** The next frame repaints everything. */
  invalidate(): void {
    this.#whole = true;
  }

  /** Output that shows `frame`, or an empty string where it already stands. */
  paint(frame: Frame): string {
    let out = this.#whole ? '\u001b[2J' : '';
    for (const [row, line] of frame.lines.entries()) {
      if (!this.#whole && this.#shown[row] === line) continue;
      out += `\u001b[${row + 1};1H\u001b[2K${line}`;
    }
    this.#shown = frame.lines;
    this.#whole = false;
    if (out === '' && !frame.cursor) return '';
    const cursor = frame.cursor
      ? `\u001b[${frame.cursor.row + 1};${frame.cursor.column + 1}H\u001b[?25h`
      : '\u001b[?25l';
    return this.#synchronized ? on + out + cursor + off : out + cursor;
  }

  /** The first half of a frame, and not the end of it. */
  paintHalf(frame: Frame): string {
    this.#whole = true;
    const half = Math.ceil(frame.lines.length / 2);
    const lines = frame.lines.slice(0, half);
    return `${on}\u001b[2J${lines.map((line, row) => `\u001b[${row + 1};1H${line}`).join('')}`;
  }
}
