import type { Colour, ScreenRow, ScreenSnapshot } from '@ostler/terminal';
import type { Composer } from '../reading.js';
import { lastIndexWhere } from './rows.js';
import { wordings } from './strings.js';

/**
 * A turn runs: the spinner's row, the footer's `esc to interrupt` (gone while a
 * draft stands), the queue's note, or a spinner in the title. While text streams
 * over a draft the title alone tells (claude 2.1.328,
 * fixtures/claude/2.1.328/s4-hooks-queue.cast at 11.5).
 */
export function isBusy(snapshot: ScreenSnapshot, conversationEnd: number): boolean {
  const title = snapshot.signals.title?.text ?? '';
  if (wordings.busyTitle.pattern.test(title)) return true;
  const above = snapshot.rows.slice(0, conversationEnd);
  if (above.some((row) => wordings.spinnerRow.pattern.test(row.text))) return true;
  return snapshot.rows
    .slice(conversationEnd)
    .some((row) => wordings.interruptFooter.pattern.test(row.text));
}

/**
 * The queued texts, above the spinner in 2.1.328 and below it in 2.1.280: like
 * sent prompts on a background, but grey where a sent prompt's text is black or
 * white (fixtures/claude/2.1.328/s3-busy-tool.cast, 2.1.280/busy-tool.cast).
 */
export function readQueue(
  snapshot: ScreenSnapshot,
  conversationEnd: number,
  composer: Composer,
): string[] {
  if (!offersQueue(snapshot, conversationEnd, composer)) return [];
  const rows = snapshot.rows.slice(0, conversationEnd);
  const queue: string[] = [];
  let y = lastIndexWhere(rows, isQueuedRow);
  while (y >= 0) {
    const lines: string[] = [];
    for (; y >= 0; y -= 1) {
      const row = rows[y];
      if (!row || !isQueuedRow(row)) break;
      lines.unshift(row.text.slice(2));
      if (row.text.startsWith(wordings.promptGlyph)) break;
    }
    const head = rows[y];
    if (!head?.text.startsWith(wordings.promptGlyph) || !isQueuedRow(head)) break;
    queue.unshift(lines.join('\n'));
    y -= 1;
    while (y >= 0 && rows[y]?.text === '') y -= 1;
  }
  return queue;
}

/** Just taken, the texts stay grey for a moment: the note and the suggestion are gone by then. */
function offersQueue(snapshot: ScreenSnapshot, end: number, composer: Composer): boolean {
  if (composer.draft !== '' || wordings.queueGhost.pattern.test(composer.ghost ?? '')) return true;
  return snapshot.rows.slice(0, end).some((row) => wordings.queueNote.pattern.test(row.text));
}

function isQueuedRow(row: ScreenRow): boolean {
  if (!/^[❯ ][ \u00a0]\S/.test(row.text)) return false;
  const written = row.runs.findLast((run) => run.text.trim() !== '');
  return written?.style.background != null && isGrey(written.style.foreground);
}

function isGrey(colour: Colour): boolean {
  if (colour === null) return false;
  if (typeof colour === 'number') return colour === 8 || (colour >= 232 && colour <= 250);
  const match = /^#(..)(..)(..)$/.exec(colour);
  return (
    match !== null &&
    match[1] === match[2] &&
    match[2] === match[3] &&
    match[1] !== 'ff' &&
    match[1] !== '00'
  );
}
