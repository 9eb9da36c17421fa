import type { ScreenSnapshot } from '@ostler/terminal';
import type { DraftMatch, PreparedBody } from '../engine.js';
import type { Composer, Reading } from '../reading.js';
import { composerWidth, countRows, lastRowCells, widthOf } from './wrap.js';

/** Characters a terminal may show differently, drop or merge: compared by presence only. */
const unsure =
  /[\p{Extended_Pictographic}\p{Regional_Indicator}\p{M}\p{Cf}\p{Emoji_Modifier}\u20e3]/u;
/** Digits, `#` and `*` count as emoji parts for Unicode; here they are text. */
const plain = /[0-9#*]/;

/** Compares what the composer shows with what was pasted into it. */
export function matchDraft(
  reading: Reading,
  body: PreparedBody,
  snapshot: ScreenSnapshot,
  tellsHiddenRows = true,
): DraftMatch {
  const { composer } = reading;
  if (!composer) return 'other';
  const { above, below } = composer.hiddenRows;
  const hidden = above + below;
  if (composer.draft === '' && hidden === 0) return 'empty';
  const shown = characters(composer.rows.join('\n'));
  const ours = charactersOf(body);
  if (hidden === 0) {
    const end = follow(ours, 0, shown);
    if (end === ours.length) return 'exact';
    if (isOurCollapse(composer, body) || isOurCut(composer, body.text, ours)) return 'exact';
    if (!tellsHiddenRows && fillsBox(composer, snapshot)) {
      return matchUntold(composer, body.text, { shown, ours, snapshot });
    }
    return end >= 0 && shown.length > 0 ? 'partial' : 'other';
  }
  return matchTall(composer, body.text, { shown, ours, snapshot });
}

/** The draft is taller than its box: the visible part has to be ours, and the hidden rows as many as ours need. */
function matchTall(
  composer: Composer,
  text: string,
  parts: { shown: readonly string[]; ours: readonly string[]; snapshot: ScreenSnapshot },
): DraftMatch {
  const { shown, ours, snapshot } = parts;
  if (shown.length === 0) return 'other';
  const { above, below } = composer.hiddenRows;
  const rows = countRows(text, composerWidth(snapshot.cols));
  const counted = above + composer.rows.length + below;
  const tolerance = /^[\n\x20-\x7e]*$/.test(text) ? 0 : 1 + Math.ceil(rows / 10);
  if (below === 0 && Math.abs(rows - counted) <= tolerance && endsWith(ours, shown)) return 'exact';
  if (below > 0 && Math.abs(rows - counted) <= tolerance && contains(ours, shown)) return 'exact';
  // Still being echoed: a piece of ours, fewer rows than all of it.
  return counted <= rows + tolerance && contains(ours, shown) ? 'partial' : 'other';
}

/** Rows the composer grows to before it scrolls (claude 2.1.280 and 2.1.328, 14 to 40 rows). */
function fillsBox(composer: Composer, snapshot: ScreenSnapshot): boolean {
  return composer.rows.length >= Math.max(3, Math.floor(snapshot.rows.length / 2) - 5);
}

/** Where 2.1.280 begins to cut the middle out of a draft. */
const cutBeyondCharacters = 10_000;

/**
 * Scrolled without a count (claude 2.1.280, fixtures/claude/2.1.280/drafts.cast):
 * the visible part has to be our end.
 */
function matchUntold(
  composer: Composer,
  text: string,
  parts: { shown: readonly string[]; ours: readonly string[]; snapshot: ScreenSnapshot },
): DraftMatch {
  const { shown, ours, snapshot } = parts;
  const width = composerWidth(snapshot.cols);
  if (countRows(text, width) < composer.rows.length) return 'other';
  if (!contains(ours, shown)) return 'other';
  // A text that repeats itself ends like its beginning; the last row's length tells
  // them apart, unless the middle was cut out and every row after it moved.
  const ambiguous = follow(ours, 0, shown) >= 0 && text.length <= cutBeyondCharacters;
  const lastRow = widthOf((composer.rows.at(-1) ?? '').trimEnd());
  const rowFits = !ambiguous || Math.abs(lastRow - lastRowCells(text, width)) <= 1;
  const ends = rowFits && endsWith(ours, shown);
  return ends ? 'exact' : 'partial';
}

/**
 * 2.1.280 cuts the middle out of a draft beyond 10,000 characters, shows
 * `[...Truncated text #1 +N lines...]` for it and submits the whole
 * (fixtures/claude/2.1.280/truncated.cast).
 */
function isOurCut(composer: Composer, text: string, ours: readonly string[]): boolean {
  const [marker, another] = composer.collapsed;
  if (!marker?.label.includes('Truncated') || another) return false;
  const shown = composer.rows.join(' ');
  const at = shown.indexOf(marker.label);
  if (at < 0) return false;
  const head = characters(shown.slice(0, at));
  const tail = characters(shown.slice(at + marker.label.length));
  const linesFit = (marker.lines ?? 0) <= text.split('\n').length - 1;
  const shorter = head.length + tail.length < ours.length;
  return linesFit && shorter && tail.length > 0 && endsWith(ours, tail) && contains(ours, head);
}

/** Every character is itself; blanks count for nothing. */
const plainText = /^[\n\x20-\x7e]*$/;

function characters(text: string): string[] {
  if (plainText.test(text)) return text.replace(/[\n ]+/g, '').split('');
  const kept: string[] = [];
  for (const character of text.normalize('NFC')) {
    if (/\s/u.test(character)) continue;
    const token = unsure.test(character) && !plain.test(character) ? '' : character;
    // A run of unsure characters is one token, the empty string.
    if (token === '' && kept.at(-1) === '') continue;
    kept.push(token);
  }
  return kept;
}

const knownCharacters = new WeakMap<PreparedBody, readonly string[]>();

function charactersOf(body: PreparedBody): readonly string[] {
  const known = knownCharacters.get(body);
  if (known) return known;
  const ours = characters(body.text);
  knownCharacters.set(body, ours);
  return ours;
}

/** Where in `ours` the reading of `shown`, begun at `from`, ends; -1 when they part. */
function follow(ours: readonly string[], from: number, shown: readonly string[]): number {
  let at = from;
  for (const token of shown) {
    if (token === '' && ours[at] !== '') return -1;
    if (token !== '' && ours[at] === '') at += 1;
    if (ours[at] !== token) return -1;
    at += 1;
  }
  return at === ours.length - 1 && ours[at] === '' ? ours.length : at;
}

function endsWith(ours: readonly string[], shown: readonly string[]): boolean {
  // Tokens the terminal dropped make the visible part shorter than ours.
  const dropped = ours.filter((token) => token === '').length;
  for (let from = ours.length - shown.length; from >= 0; from -= 1) {
    if (follow(ours, from, shown) === ours.length) return true;
    if (ours.length - shown.length - from > dropped) return false;
  }
  return false;
}

function contains(ours: readonly string[], shown: readonly string[]): boolean {
  for (let from = 0; from + 1 <= ours.length; from += 1) {
    if (ours[from] === shown[0] && follow(ours, from, shown) >= 0) return true;
  }
  return false;
}

/** One marker, nothing beside it, and as many lines as the text has. */
function isOurCollapse(composer: Composer, body: PreparedBody): boolean {
  const [marker, another] = composer.collapsed;
  if (!marker || another) return false;
  if (composer.rows.join(' ').trim() !== marker.label) return false;
  const lineBreaks = body.text.split('\n').length - 1;
  return marker.lines === null
    ? lineBreaks === 0 && body.text.length > 700
    : marker.lines === lineBreaks;
}
