import type { ScreenSnapshot } from '@ostler/terminal';
import type { FoundComposer } from './composer.js';
import { isPanelBorder, isRule, lastIndexWhere, textsBetween } from './rows.js';
import { dialogWordings, wordings } from './strings.js';

/** The dialog that stands at the bottom of the screen, by name; null where none is known. */
export function findDialog(
  snapshot: ScreenSnapshot,
  composer: FoundComposer | null,
): string | null {
  if (isAgentsView(snapshot, composer)) return 'agents_view';
  const footerRow = lastIndexWhere(snapshot.rows, (row) => row.text !== '');
  const footer = snapshot.rows[footerRow]?.text ?? '';
  // Below a composer only the footer can belong to a dialog.
  const panel = composer
    ? textsBetween(snapshot, composer.bottom + 1, footerRow + 1)
    : textsBetween(snapshot, panelTop(snapshot), footerRow + 1);
  for (const dialog of dialogWordings) {
    if (dialog.footer && !dialog.footer.test(footer)) continue;
    if (composer && !dialog.footer) continue;
    if (dialog.panel && !panel.some((text) => dialog.panel?.test(text))) continue;
    return dialog.hold;
  }
  return !composer && hasPanelBorder(snapshot) ? 'menu' : null;
}

/** Looks like a composer; Enter there makes a new background agent (fixtures/claude/2.1.328/s5-dialogs.cast at 52.8). */
function isAgentsView(snapshot: ScreenSnapshot, composer: FoundComposer | null): boolean {
  if (wordings.agentsTitle.pattern.test(snapshot.signals.title?.text ?? '')) return true;
  if (!composer) return false;
  const footer = textsBetween(snapshot, composer.bottom + 1, snapshot.rows.length);
  return composer.dimRules || footer.some((text) => wordings.agentsFooter.pattern.test(text));
}

/** Where the lowest panel begins: a `▔` border, or the rule a dialog is drawn under. */
function panelTop(snapshot: ScreenSnapshot): number {
  const { rows, cols } = snapshot;
  const border = lastIndexWhere(rows, isPanelBorder);
  if (border >= 0) return border + 1;
  return lastIndexWhere(rows, (row) => isRule(row, cols)) + 1;
}

function hasPanelBorder(snapshot: ScreenSnapshot): boolean {
  return lastIndexWhere(snapshot.rows, isPanelBorder) >= 0;
}

/** The terminal went back to whoever started the engine: its title is gone, the cursor is shown. */
export function isBackAtShell(snapshot: ScreenSnapshot): boolean {
  const { modes, signals } = snapshot;
  if (!modes.cursorVisible || modes.alternateScreen || signals.title === null) return false;
  return !wordings.ownTitle.pattern.test(signals.title.text);
}
