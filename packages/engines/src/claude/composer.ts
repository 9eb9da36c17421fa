import type { ScreenRow, ScreenSnapshot } from '@ostler/terminal';
import type { CollapseMarker, Composer } from '../reading.js';
import { isRule, lastIndexWhere, type Piece, piecesAfter } from './rows.js';
import { wordings } from './strings.js';

export interface FoundComposer {
  readonly composer: Composer;
  /** Rows of the upper and the lower rule. */
  readonly top: number;
  readonly bottom: number;
  /** `!` typed or pasted into an empty composer: Enter would run a shell command. */
  readonly shellMode: boolean;
  /** An inverse cell stands for the cursor; without one the keys go elsewhere. */
  readonly focused: boolean;
  /** The agents view dims its rules; the conversation's composer doesn't. */
  readonly dimRules: boolean;
}

/**
 * The two lowest rules with `❯ text` between them (claude 2.1.328,
 * fixtures/claude/2.1.328/s1-idle-drafts.cast). Null where the lowest rule
 * doesn't close such a box.
 */
export function findComposer(snapshot: ScreenSnapshot): FoundComposer | null {
  const { rows, cols } = snapshot;
  const rule = (row: ScreenRow): boolean => isRule(row, cols);
  const bottom = lastIndexWhere(rows, rule);
  const top = lastIndexWhere(rows, rule, bottom);
  const upper = rows[top];
  const lower = rows[bottom];
  if (!upper || !lower) return null;
  const body = rows.slice(top + 1, bottom);
  const above = count(wordings.hiddenAbove.pattern, upper.text);
  const below = count(wordings.hiddenBelow.pattern, lower.text);
  const first = body[0]?.text ?? '';
  const glyph = first.slice(0, 1);
  const opens = /^[❯!](?:[ \u00a0]|$)/.test(first);
  if (!opens && !(above > 0 && isContinuation(first))) return null;
  if (!body.slice(1).every((row) => isContinuation(row.text))) return null;

  const read = body.map((row) => readDraftRow(row));
  const draftRows = read.map((row) => row.draft);
  const draft = draftRows.join('\n');
  const ghost = read.map((row) => row.ghost).join('');
  return {
    composer: {
      draft,
      rows: draftRows,
      ghost: ghost === '' ? null : ghost,
      collapsed: collapseMarkers(draft),
      hiddenRows: { above, below },
    },
    top,
    bottom,
    shellMode: glyph === wordings.shellGlyph,
    focused: read.some((row) => row.cursor),
    dimRules: upper.runs[0]?.style.dim === true,
  };
}

function isContinuation(text: string): boolean {
  return text === '' || text.startsWith('  ');
}

function count(pattern: RegExp, text: string): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}

interface DraftRow {
  readonly draft: string;
  readonly ghost: string;
  readonly cursor: boolean;
}

/**
 * Ghost text is dim, its first character, under the cursor, inverse. Real text
 * is never dim. Trailing blanks count up to the cursor.
 */
function readDraftRow(row: ScreenRow): DraftRow {
  const pieces = piecesAfter(row, 2);
  let draft = '';
  let ghost = '';
  let cursor = false;
  let solidLength = 0;
  pieces.forEach((piece, index) => {
    const isCursor = piece.style.inverse;
    cursor ||= isCursor;
    if (piece.style.dim || (isCursor && startsGhost(piece, pieces[index + 1]))) {
      ghost += piece.text;
      return;
    }
    if (isCursor) solidLength = Math.max(solidLength, draft.length);
    draft += piece.text;
  });
  solidLength = Math.max(solidLength, draft.trimEnd().length);
  return { draft: draft.slice(0, solidLength), ghost: ghost.trimEnd(), cursor };
}

function startsGhost(cursor: Piece, next: Piece | undefined): boolean {
  return cursor.text.trim() !== '' && next?.style.dim === true;
}

function collapseMarkers(draft: string): CollapseMarker[] {
  return [...draft.matchAll(wordings.collapseMarker.pattern)].map((match) => ({
    label: match[0].replaceAll('\n', ' '),
    characters: null,
    lines: match[1] === undefined ? null : Number(match[1]),
  }));
}
