import type headless from '@xterm/headless';
import type { XtermCore } from './xterm-state.js';

const escape = '\u001b';

/** Mouse modes as programs ask for them. */
const mouseModes: Readonly<Record<string, number>> = { x10: 9, vt200: 1000, drag: 1002, any: 1003 };

export interface PaintOptions {
  readonly terminal: headless.Terminal;
  /** Without it a scroll region and the pen stay at their defaults. */
  readonly core: XtermCore | null;
  readonly cursorVisible: boolean;
  readonly title: string | null;
}

/**
 * Sequences that put the present screen onto a cleared terminal of the same size, with
 * the modes its program has set. The other buffer and tab stops are left out.
 */
export function paintScreen(options: PaintOptions): string {
  const { terminal, core, cursorVisible, title } = options;
  const buffer = terminal.buffer.active;
  const { modes } = terminal;
  let text = `${escape}[?25l${escape}[?7l`;
  if (buffer.type === 'alternate') text += `${escape}[?1049h`;
  if (title !== null) text += `${escape}]2;${title.replace(/\p{Cc}/gu, '')}${escape}\\`;
  text += `${escape}[0m${escape}[H${escape}[2J`;
  for (let y = 0; y < terminal.rows; y += 1) {
    const line = buffer.getLine(buffer.viewportY + y);
    if (line) text += paintRow(line, y, terminal.cols);
  }
  const set = (mode: number, on: boolean): void => {
    if (on) text += `${escape}[?${mode}h`;
  };
  set(1, modes.applicationCursorKeysMode);
  set(45, modes.reverseWraparoundMode);
  set(1004, modes.sendFocusMode);
  set(2004, modes.bracketedPasteMode);
  const mouse = mouseModes[modes.mouseTrackingMode];
  if (mouse !== undefined) text += `${escape}[?${mouse}h`;
  if (core?.coreMouseService.activeEncoding === 'SGR') text += `${escape}[?1006h`;
  if (modes.applicationKeypadMode) text += `${escape}=`;
  if (modes.insertMode) text += `${escape}[4h`;
  const { scrollTop = 0, scrollBottom = terminal.rows - 1 } = core?.buffers.active ?? {};
  if (scrollTop !== 0 || scrollBottom !== terminal.rows - 1)
    text += `${escape}[${scrollTop + 1};${scrollBottom + 1}r`;
  const originRow = modes.originMode ? scrollTop : 0;
  if (modes.originMode) text += `${escape}[?6h`;
  // A cursor behind the last column, about to wrap, has no address: it stands on it.
  const column = Math.min(buffer.cursorX, terminal.cols - 1);
  text += `${escape}[${buffer.cursorY - originRow + 1};${column + 1}H`;
  text += modes.wraparoundMode ? `${escape}[?7h` : '';
  return text + (cursorVisible ? `${escape}[?25h` : '');
}

function paintRow(line: headless.IBufferLine, y: number, cols: number): string {
  let text = '';
  let style = '0';
  let at = -1;
  for (let column = 0; column < cols; column += 1) {
    const cell = line.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const chars = cell.getChars();
    const wanted = sgrOf(cell);
    if (chars === '' && wanted === '0') continue;
    // After a jump, and before anything that could join what stands left of it.
    if (at !== column || !isAscii(chars)) text += `${escape}[${y + 1};${column + 1}H`;
    if (wanted !== style) text += `${escape}[${wanted}m`;
    style = wanted;
    text += chars === '' ? ' ' : chars;
    at = isAscii(chars) ? column + 1 : -1;
  }
  return style === '0' ? text : `${text}${escape}[0m`;
}

function isAscii(chars: string): boolean {
  return chars.length <= 1 && chars <= '~';
}

function sgrOf(cell: headless.IBufferCell): string {
  const codes = ['0'];
  if (cell.isBold()) codes.push('1');
  if (cell.isDim()) codes.push('2');
  if (cell.isItalic()) codes.push('3');
  if (cell.isUnderline()) codes.push('4');
  if (cell.isBlink()) codes.push('5');
  if (cell.isInverse()) codes.push('7');
  if (cell.isInvisible()) codes.push('8');
  if (cell.isStrikethrough()) codes.push('9');
  if (cell.isOverline()) codes.push('53');
  if (!cell.isFgDefault()) codes.push(colourOf(38, cell.isFgRGB(), cell.getFgColor()));
  if (!cell.isBgDefault()) codes.push(colourOf(48, cell.isBgRGB(), cell.getBgColor()));
  return codes.join(';');
}

function colourOf(ground: number, rgb: boolean, value: number): string {
  return rgb
    ? `${ground};2;${value >> 16};${(value >> 8) & 0xff};${value & 0xff}`
    : `${ground};5;${value}`;
}
