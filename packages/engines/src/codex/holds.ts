import type { ScreenSnapshot } from '@ostler/terminal';
import { programState } from './activity.js';
import type { ComposerPlace } from './composer.js';
import { lastTextRow } from './layout.js';
import { dialogs, strings } from './strings.js';

const FOOT_ROWS = 6;

/**
 * The dialog that has the keys, by its hold's name. Only asked where no composer
 * has the cursor: the same words in the conversation are no dialog.
 */
export function findDialog(texts: readonly string[]): string | null {
  const last = lastTextRow(texts);
  if (last < 0) return null;
  for (const dialog of dialogs) {
    const foot = texts.findLastIndex((text) => dialog.foot.test(text));
    if (foot < 0 || foot <= last - dialogFootRows(dialog.hold)) continue;
    const head = texts.findLastIndex((text, row) => row <= foot && dialog.head.test(text));
    if (head >= 0) return dialog.hold;
  }
  return null;
}

/** Choices may stand between the foot and the end of the screen. */
function dialogFootRows(hold: string): number {
  return hold === 'menu' || hold === 'permission' ? 2 : FOOT_ROWS;
}

/** Forbids typing before anything is painted: the engine says it waits for a person. */
export function blockedHold(snapshot: ScreenSnapshot): string | null {
  const said = programState(snapshot);
  if (said?.state === 'blocked') return said.kind ?? 'action_required';
  const title = snapshot.signals.title?.text ?? '';
  if (said === null && strings.blockedTitle.is.test(title)) return 'action_required';
  return null;
}

/** What forbids typing although a composer has the cursor. */
export function composerHold(
  snapshot: ScreenSnapshot,
  texts: readonly string[],
  place: ComposerPlace,
): string | null {
  if (place.shell) return 'shell';
  if (isStarting(snapshot, texts, place)) return 'starting';
  return null;
}

/**
 * The composer is painted long before the session is ready, and the trust dialog
 * opens over it (codex 0.169.0, fixtures/codex/0.169.0/s8a-trust.cast). Ready is:
 * on the alternate screen the first OSC 7501; on the normal screen a header that
 * no longer says `loading` (0.156.1: there the trust dialog comes before it).
 */
function isStarting(
  snapshot: ScreenSnapshot,
  texts: readonly string[],
  place: ComposerPlace,
): boolean {
  if (snapshot.modes.alternateScreen && programState(snapshot) === null) return true;
  if (place.footer.some((text) => strings.startingFooter.is.test(text))) return true;
  if (place.footer.length === 1 && strings.bareShortcutsFooter.is.test(place.footer[0] ?? '')) {
    return true;
  }
  return texts.some((text) => strings.loadingHeader.is.test(text));
}

/** The search field in the footer has the cursor, the composer above it hasn't. */
export function isSearching(snapshot: ScreenSnapshot, texts: readonly string[]): boolean {
  return (
    snapshot.modes.cursorVisible && strings.searchFooter.is.test(texts[snapshot.cursor.row] ?? '')
  );
}
