/**
 * Every text of Claude Code's screen that a later version may change, with the
 * versions it was seen in. `npm test` replays the recordings under
 * `fixtures/claude/<version>/` against this table.
 */
export interface Wording {
  readonly pattern: RegExp;
  readonly seen: readonly string[];
}

/** With the measured differences in the pattern itself. */
const both: readonly string[] = ['2.1.280', '2.1.328'];
const newer: readonly string[] = ['2.1.328'];

/** A dialog: what stands in its panel, and in the last row that isn't blank. */
export interface DialogWording {
  readonly hold: string;
  readonly panel?: RegExp;
  readonly footer?: RegExp;
  readonly seen: readonly string[];
}

export const wordings: {
  readonly promptGlyph: '❯';
  readonly shellGlyph: '!';
  readonly hiddenAbove: Wording;
  readonly hiddenBelow: Wording;
  readonly collapseMarker: Wording;
  readonly spinnerRow: Wording;
  readonly interruptFooter: Wording;
  readonly busyTitle: Wording;
  readonly ownTitle: Wording;
  readonly agentsTitle: Wording;
  readonly agentsFooter: Wording;
  readonly queueNote: Wording;
  readonly queueGhost: Wording;
  readonly permissionComing: Wording;
  readonly stashed: Wording;
} = {
  promptGlyph: '❯',
  shellGlyph: '!',
  hiddenAbove: { pattern: /↑ (\d+) more/, seen: newer },
  hiddenBelow: { pattern: /↓ (\d+) more/, seen: newer },
  collapseMarker: {
    pattern:
      /\[(?:Pasted\s+text|\.\.\.Truncated\s+text|Image)\s+#\d+(?:\s+\+(\d+)\s+lines)?(?:\.\.\.)?\]/g,
    seen: both,
  },
  spinnerRow: { pattern: /^[·✢✳✶✻✽*] \S+…(?: \(|$)/, seen: both },
  interruptFooter: { pattern: /esc to interrupt/, seen: both },
  busyTitle: { pattern: /^[◐◑◒◓\u2801-\u28ff] /, seen: both },
  ownTitle: { pattern: /Claude Code|claude agents/, seen: both },
  agentsTitle: { pattern: /claude agents$/, seen: both },
  agentsFooter: { pattern: /^\s*enter to (?:return|open|create)\b/, seen: both },
  queueNote: { pattern: /^\s+(?:⎿\s+Queued · )?ctrl\+x ctrl\+s to send now/, seen: both },
  queueGhost: { pattern: /^Press up to edit queued/, seen: both },
  permissionComing: { pattern: /^\s*Waiting for permission…/, seen: both },
  stashed: { pattern: / (?:draft|›) stashed$/, seen: both },
};

/** In the order they are tried. A panel without a name of its own is a `menu`. */
export const dialogWordings: readonly DialogWording[] = [
  {
    hold: 'auto_mode_offer',
    panel: /^\s*Make auto mode your default permission mode\?/,
    seen: newer,
  },
  { hold: 'transcript', footer: /^\s*Showing detailed transcript · /, seen: both },
  { hold: 'question', footer: /^\s*Enter to select · /, seen: both },
  { hold: 'question', panel: /^\s*Review your answers$/, seen: both },
  {
    hold: 'plan_exit',
    panel: /^\s*(?:Exit plan mode\?|Ready to code\?|Claude wants to exit plan mode)/,
    seen: both,
  },
  {
    hold: 'permission',
    panel: /^\s*Do you want to .*\?$/,
    footer: /^\s*Esc to cancel\b/,
    seen: both,
  },
  { hold: 'trust', panel: /^\s*Accessing workspace:$/, footer: /Enter to confirm/, seen: both },
  {
    hold: 'bypass_permissions',
    panel: /^\s*WARNING: .*Bypass Permissions mode/,
    footer: /Enter to confirm/,
    seen: both,
  },
  { hold: 'api_key', panel: /^\s*Detected a custom API key/, seen: both },
  { hold: 'held_message', panel: /^\s*Held message from another session/, seen: newer },
  { hold: 'model_picker', panel: /^\s*Select model$/, seen: both },
  { hold: 'resume_picker', panel: /^\s*Resume session\b/, seen: both },
  { hold: 'search', panel: /^\s*Search prompts\b/, seen: both },
  { hold: 'rewind', panel: /^\s*Rewind$/, seen: both },
  { hold: 'settings', panel: /^\s*Settings\s+Status\s+Config\b/, seen: both },
  { hold: 'help', panel: /^\s*Help\s+General\s+Commands\b/, seen: both },
];
