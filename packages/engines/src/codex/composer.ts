import type { ScreenRow, ScreenSnapshot } from '@ostler/terminal';
import type { CollapseMarker, Composer } from '../reading.js';
import { afterIndent, isBlank, isDimAfterIndent, lastTextRow, rowTexts } from './layout.js';
import { markerColour, strings } from './strings.js';

/** The composer and where it stands. */
export interface ComposerPlace {
  readonly composer: Composer;
  /** First and last screen row of the draft. */
  readonly top: number;
  readonly bottom: number;
  readonly shell: boolean;
  /** Rows under the draft. */
  readonly footer: readonly string[];
}

/** A blank draft that is not the empty one: its width isn't visible. */
const BLANK_DRAFT = ' ';
const MAX_FOOTER_ROWS = 3;

/**
 * The composer the cursor stands in, or null. It has a glyph at column 0 and
 * continuation rows indented by two; a menu paints the same glyph but hides the
 * cursor, and the rows of a completion popup end above a blank row
 * (codex 0.169.0, fixtures/codex/0.169.0/s1b-composer-special.cast).
 */
export function findComposer(snapshot: ScreenSnapshot): ComposerPlace | null {
  if (!snapshot.modes.cursorVisible) return null;
  const texts = rowTexts(snapshot);
  const top = glyphRow(texts, snapshot.cursor.row);
  const glyphRowCells = top === null ? undefined : snapshot.rows[top];
  // The glyph of a prompt already sent is painted dim.
  if (top === null || !glyphRowCells || glyphRowCells.runs[0]?.style.dim) return null;
  const bottom = lastDraftRow(snapshot, texts, top);
  const rows = snapshot.rows.slice(top, bottom + 1).map((row) => draftText(row, snapshot.cols));
  const ghost =
    top === bottom && snapshot.cursor.column === 2 && isDimAfterIndent(glyphRowCells)
      ? afterIndent(glyphRowCells.text)
      : null;
  const shell = (texts[top] ?? '').startsWith(strings.shellGlyph.is);
  const first = shell ? strings.shellGlyph.is : '';
  const written = `${first}${rows.map((row) => row.text).join('\n')}`;
  return {
    composer: {
      draft: ghost === null ? (written.trim() === '' ? BLANK_DRAFT : written) : '',
      rows: ghost === null ? rows.map((row) => row.text) : [],
      ghost,
      collapsed: ghost === null ? findMarkers(snapshot.rows.slice(top, bottom + 1)) : [],
      // The engine marks that rows are hidden, not how many: 1 means at least one.
      hiddenRows: {
        above: rows[0]?.more === strings.moreAbove.is ? 1 : 0,
        below: rows.at(-1)?.more === strings.moreBelow.is ? 1 : 0,
      },
    },
    top,
    bottom,
    shell,
    footer: texts.slice(bottom + 1).filter((text) => !isBlank(text)),
  };
}

function glyphRow(texts: readonly string[], cursorRow: number): number | null {
  for (let row = cursorRow; row >= 0; row -= 1) {
    const text = texts[row] ?? '';
    if (strings.draftRow.is.test(text)) return row;
    if (!isBlank(text) && !text.startsWith('  ')) return null;
  }
  return null;
}

/**
 * Under the draft stand one blank row and a footer of up to three rows; a draft
 * that fills the screen pushes the footer out.
 */
function lastDraftRow(snapshot: ScreenSnapshot, texts: readonly string[], top: number): number {
  const cursorRow = snapshot.cursor.row;
  const last = lastTextRow(texts);
  if (last <= cursorRow) return cursorRow;
  let footerTop = last;
  while (footerTop > cursorRow && !isBlank(texts[footerTop - 1])) footerTop -= 1;
  const isFooter =
    footerTop > cursorRow + 1 &&
    last - footerTop < MAX_FOOTER_ROWS &&
    isBlank(texts[footerTop - 1]);
  if (!isFooter) return last;
  let bottom = footerTop - 2;
  while (bottom > Math.max(top, cursorRow) && isBlank(texts[bottom])) bottom -= 1;
  return Math.max(bottom, cursorRow);
}

function draftText(row: ScreenRow, cols: number): { text: string; more: string | null } {
  const last = row.runs.findLast((run) => run.text.trim() !== '');
  const end = last?.text.trimEnd().at(-1) ?? '';
  const atEdge = last !== undefined && last.column + last.text.trimEnd().length >= cols - 1;
  const isMore = end === strings.moreAbove.is || end === strings.moreBelow.is;
  if (last?.style.dim && atEdge && isMore) {
    return { text: afterIndent(row.text.slice(0, -1).trimEnd()), more: end };
  }
  return { text: afterIndent(row.text), more: null };
}

/** Markers by their colour: the same words typed as text are not coloured. */
function findMarkers(rows: readonly ScreenRow[]): CollapseMarker[] {
  const markers: CollapseMarker[] = [];
  const coloured = rows
    .map((row) =>
      row.runs
        .filter((run) => run.style.foreground === markerColour.is)
        .map((run) => run.text)
        .join(''),
    )
    .join('');
  for (const match of coloured.matchAll(strings.collapseMarker.is)) {
    markers.push({ label: match[0], characters: Number(match[1]), lines: null });
  }
  return markers;
}
