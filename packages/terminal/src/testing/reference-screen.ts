import { StringDecoder } from 'node:string_decoder';
import headless from '@xterm/headless';
import { readPublic } from '../row-reader.js';
import type { ScreenRow } from '../snapshot.js';
import { unicodeProvider } from '../unicode-provider.js';

/** The terminal without any of our short cuts: public API only, every row read every time. */
export class ReferenceScreen implements Disposable {
  readonly terminal: headless.Terminal;
  readonly #decoder = new StringDecoder('utf8');

  constructor(cols: number, rows: number) {
    this.terminal = new headless.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
    this.terminal.unicode.register(unicodeProvider);
    this.terminal.unicode.activeVersion = unicodeProvider.version;
  }

  async rowsAfter(data: Uint8Array | string): Promise<readonly ScreenRow[]> {
    const text = typeof data === 'string' ? data : this.#decoder.write(Buffer.from(data));
    await new Promise<void>((resolve) => this.terminal.write(text, resolve));
    const buffer = this.terminal.buffer.active;
    return Array.from({ length: this.terminal.rows }, (_, y) => {
      const line = buffer.getLine(buffer.viewportY + y);
      return line ? readPublic(line, this.terminal.cols) : { text: '', runs: [], wrapped: false };
    });
  }

  [Symbol.dispose](): void {
    this.terminal.dispose();
  }
}

const words: readonly string[] = [
  'text',
  '中文',
  '👩‍👩‍👧',
  'e\u0301',
  '\u00a0',
  ' ',
  '─',
  '\u200d',
  '🇯🇵',
  'ก็',
  '\r',
  '\n',
  '\r\n',
  '\b',
  '\t',
  '\u000b',
  '\u0007',
  '\u001b[H',
  '\u001b[5;3H',
  '\u001b[2;70H',
  '\u001b[999;999H',
  '\u001b[A',
  '\u001b[B',
  '\u001b[J',
  '\u001b[1J',
  '\u001b[2J',
  '\u001b[K',
  '\u001b[1K',
  '\u001b[2K',
  '\u001b[3X',
  '\u001b[2L',
  '\u001b[M',
  '\u001b[4@',
  '\u001b[3P',
  '\u001b[S',
  '\u001b[2T',
  '\u001bM',
  '\u001bD',
  '\u001b[2;4r',
  '\u001b[r',
  '\u001b[?6h',
  '\u001b[?6l',
  '\u001b[4h',
  '\u001b[4l',
  '\u001b[?7l',
  '\u001b[?7h',
  '\u001b7',
  '\u001b8',
  '\u001b[3b',
  '\u001b#8',
  '\u001b[1m',
  '\u001b[2m',
  '\u001b[3m',
  '\u001b[7m',
  '\u001b[4m',
  '\u001b[0m',
  '\u001b[27m',
  '\u001b[31;44m',
  '\u001b[38;5;208m',
  '\u001b[48;2;1;2;3m',
  '\u001b[39;49m',
  '\u001b[91m',
  '\u001b[?1049h',
  '\u001b[?1049l',
  '\u001b[?47h',
  '\u001b[?47l',
  '\u001b[?1047h',
  '\u001b[?1047l',
  '\u001b[?25l',
  '\u001b[?25h',
  '\u001b[?2026h',
  '\u001b[?2026l',
  '\u001b[?2004h',
  '\u001b[?2004l',
  '\u001bc',
  '\u001b[!p',
  '\u001b[1"q',
  '\u001b[0"q',
  '\u001b[?J',
  '\u001b[?K',
  '\u001b]0;title\u0007',
  '\u001b]7501;state=idle:app=x\u0007',
  '\u001b]8;;http://x\u0007',
  'a long enough text to be wrapped by a screen that is not so very wide after all, twice',
];

/** Pieces of output that touch every way a terminal changes its rows. */
export const terminalWords: readonly string[] = words;
