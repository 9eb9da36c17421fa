import { clip, textWidth, wrap } from './cells.js';
import type { OpenDialog } from './dialogs.js';
import type { Draft, Span } from './draft.js';
import type { Look } from './script.js';
import { colours, sequences, words } from './words.js';

/** One line of the conversation as it was said. */
export interface SaidLine {
  readonly text: string;
  readonly from: 'person' | 'agent';
}

/** Everything a frame shows. */
export interface Scene {
  readonly cols: number;
  readonly rows: number;
  readonly look: Look;
  readonly said: readonly SaidLine[];
  readonly busy: boolean;
  readonly spinnerStep: number;
  readonly queue: readonly string[];
  readonly dialog: OpenDialog | null;
  readonly draft: Draft;
  readonly ghost: string | null;
  readonly popups: readonly string[];
}

export interface Frame {
  /** Exactly as many lines as the screen has rows, styled. */
  readonly lines: readonly string[];
  /** Where the hardware cursor stands, or null where it is hidden. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

const { reset, bold, dim, inverse, foreground } = sequences;

/** A composer's rows: how much of a draft shows at this size. Shared with the reader. */
export function composerWindow(
  total: number,
  cursorRow: number,
  screenRows: number,
  maxComposerRows: number,
): { readonly above: number; readonly shown: number; readonly below: number } {
  const room = Math.max(1, Math.min(maxComposerRows, screenRows - 6));
  const shown = Math.min(room, total);
  const above = Math.min(Math.max(0, cursorRow - shown + 1), total - shown);
  return { above, shown, below: total - shown - above };
}

/** The columns a draft's text has. */
export function composerColumns(screenCols: number): number {
  return Math.max(1, screenCols - 3);
}

export function paintFrame(scene: Scene): Frame {
  const bottom = scene.dialog ? dialogLines(scene, scene.dialog) : composerLines(scene);
  const status = statusLines(scene);
  const room = Math.max(0, scene.rows - bottom.lines.length - status.length);
  const said = scene.said.flatMap((line) => saidLines(line, scene.cols)).slice(-room);
  const blank = Array.from({ length: room - said.length }, () => '');
  const lines = [...said, ...blank, ...status, ...bottom.lines].slice(-scene.rows);
  const cursor = bottom.cursor && {
    row: scene.rows - bottom.lines.length + bottom.cursor.row,
    column: bottom.cursor.column,
  };
  return { lines, cursor };
}

interface Block {
  readonly lines: string[];
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

function saidLines(line: SaidLine, cols: number): string[] {
  const rows = wrap(line.text, cols - 2);
  return line.from === 'person'
    ? rows.map((row, index) => `${dim}${index === 0 ? '> ' : '  '}${row}${reset}`)
    : rows.map((row, index) => `${index === 0 ? '• ' : '  '}${row}`);
}

function statusLines(scene: Scene): string[] {
  const lines: string[] = [];
  if (scene.busy) {
    const glyph = words.spinner[scene.spinnerStep % words.spinner.length];
    lines.push(`${foreground(colours.working)}${glyph} ${words.working}${reset}`);
  }
  if (scene.look.showQueue && scene.queue.length > 0) {
    const style = foreground(colours.queue);
    lines.push(`${style}${words.queueHeading}${reset}`);
    for (const text of scene.queue.slice(0, 8)) {
      const shown = clip(`${words.queueItem}${text.replaceAll(/\s+/g, ' ')}`, scene.cols - 1);
      lines.push(`${style}${shown}${reset}`);
    }
  }
  return lines;
}

function composerLines(scene: Scene): Block {
  const { draft, look, cols } = scene;
  const layout = draft.layout(composerColumns(cols));
  const total = layout.rows.length;
  const window = composerWindow(total, layout.cursorRow, scene.rows, look.maxComposerRows);
  const shown = layout.rows.slice(window.above, window.above + window.shown);
  const ghost = draft.isEmpty && scene.ghost !== null ? scene.ghost : null;
  const body =
    ghost !== null
      ? [`${look.glyph} ${ghostText(clip(ghost, cols - 3), look)}`]
      : shown.map(
          (row, index) =>
            `${index === 0 ? look.glyph : ' '} ${styled(row, look.cursor === 'inverse')}`,
        );
  const popups = scene.popups.map((text) => `${dim}${clip(words.popup + text, cols - 1)}${reset}`);
  const footer = clip(scene.busy ? words.footerBusy : words.footerIdle, cols - 1);
  return {
    lines: [
      rule(cols, window.above, '↑'),
      ...body,
      rule(cols, window.below, '↓'),
      ...popups,
      `${dim}${footer}${reset}`,
    ],
    cursor:
      look.cursor === 'hardware'
        ? { row: 1 + layout.cursorRow - window.above, column: 2 + layout.cursorColumn }
        : null,
  };
}

function dialogLines(scene: Scene, dialog: OpenDialog): Block {
  const width = scene.cols - 1;
  const options = dialog.options.map((option, index) =>
    clip(
      `${index === dialog.selected ? words.selectedOption : words.option}${index + 1}. ${option}`,
      width,
    ),
  );
  return {
    lines: [
      words.dialogRule.repeat(scene.cols),
      `${bold} ${clip(dialog.title, width - 1)}${reset}`,
      ...dialog.body.map((line) => clip(`   ${line}`, width)),
      ...options,
      ...(dialog.note === '' ? [] : [clip(`${words.note}${dialog.note}`, width)]),
      `${dim} ${clip(dialog.footer, width - 1)}${reset}`,
    ],
    cursor: null,
  };
}

function rule(cols: number, hidden: number, arrow: string): string {
  if (hidden === 0) return words.composerRule.repeat(cols);
  const label = ` ${arrow} ${hidden} more ${words.composerRule.repeat(2)}`;
  return words.composerRule.repeat(Math.max(0, cols - textWidth(label))) + label;
}

function styled(row: readonly Span[], cursor: boolean): string {
  return row
    .map((span) => {
      if (span.style === 'marker') return `${foreground(colours.marker)}${span.text}${reset}`;
      if (span.style === 'cursor' && cursor) return `${inverse}${span.text}${reset}`;
      return span.text;
    })
    .join('');
}

function ghostText(text: string, look: Look): string {
  const [first = '', ...rest] = text;
  const style = look.ghostStyle === 'grey' ? foreground(colours.ghost) : dim;
  const head =
    look.cursor === 'inverse' ? `${inverse}${first}${reset}` : `${style}${first}${reset}`;
  const painted = `${head}${style}${rest.join('')}${reset}`;
  if (look.ghostStyle !== 'late') return painted;
  return `${text}\u001b[${textWidth(text)}D${painted}`;
}
