export interface KnownDialog {
  readonly engine: string;
  /** Version and recording it was read from, under fixtures/others/. */
  readonly seenIn: string;
  readonly hold: 'permission' | 'question' | 'trust';
  /** A row that names the dialog. */
  readonly head: RegExp;
  /** A row below it, at the end of the screen. */
  readonly foot: RegExp;
}

const copilotFoot = /↑\/↓ to navigate · enter to select · esc to cancel/u;

/** Dialogs of other programs in which Enter would decide something. */
export const knownDialogs: readonly KnownDialog[] = [
  {
    engine: 'cline',
    seenIn: '3.0.65, cline-perm.cast',
    hold: 'permission',
    head: /^ Approve tool call\?/,
    foot: /^ {2}\[y\] Approve {3}\[n\] Deny/,
  },
  {
    engine: 'copilot',
    seenIn: '1.0.102, copilot-boot.cast',
    hold: 'trust',
    head: /^│ Confirm folder trust\b/u,
    foot: copilotFoot,
  },
  {
    engine: 'copilot',
    seenIn: '1.0.102, copilot-perm.cast',
    hold: 'permission',
    head: /^│ (?:Allow path access|Do you want to (?:allow this|run this command)\?)/u,
    foot: copilotFoot,
  },
  {
    engine: 'gemini',
    seenIn: '0.61.0, gemini-perm.cast',
    hold: 'permission',
    head: /^│ Allow execution of \[/u,
    foot: /^│ [● ] \d+\. No, suggest changes \(esc\)/u,
  },
  {
    engine: 'gemini',
    seenIn: '0.61.0, gemini-trust-boot.cast',
    hold: 'trust',
    head: /^ │ Do you trust the files in this folder\?/u,
    foot: /^ │ [● ] 3\. Don't trust/u,
  },
  {
    engine: 'opencode',
    seenIn: '1.18.33, opencode-perm.cast',
    hold: 'permission',
    head: /^ {2}┃ {2}△ Permission required/u,
    foot: /^ {2}┃ {3}Allow once {3}Allow always {3}Reject\b/u,
  },
];
