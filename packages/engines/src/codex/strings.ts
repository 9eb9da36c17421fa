/**
 * Every text, glyph and colour of the screen that may drift, in one place, with
 * the versions it was seen in (fixtures/codex/<version>/).
 */
interface Seen<Value> {
  readonly is: Value;
  readonly seenIn: string;
}

const seen = <Value>(is: Value, seenIn: string): Seen<Value> => ({ is, seenIn });

const both = '0.156.1, 0.169.0';

interface Strings
  extends Readonly<
      Record<
        'shellGlyph' | 'moreAbove' | 'moreBelow' | 'notesPlaceholder' | 'noneOption',
        Seen<string>
      >
    >,
    Readonly<
      Record<
        | 'draftRow'
        | 'collapseMarker'
        | 'statusRow'
        | 'busyTitle'
        | 'blockedTitle'
        | 'followUpHead'
        | 'queueItem'
        | 'queueHint'
        | 'startingFooter'
        | 'bareShortcutsFooter'
        | 'searchFooter'
        | 'completionHint'
        | 'loadingHeader'
        | 'questionHead'
        | 'questionFoot'
        | 'option'
        | 'notesRow',
        Seen<RegExp>
      >
    > {
  readonly queueHeads: Seen<readonly RegExp[]>;
}

export const strings: Strings = {
  /** The first row of a prompt being written. */
  draftRow: seen(/^[›!](?: |$)/u, both),
  /** Its glyph while the draft is a shell command. */
  shellGlyph: seen('!', both),
  /** Right end of the first or last visible row of a draft taller than its box. */
  moreAbove: seen('↑', '0.169.0'),
  moreBelow: seen('↓', both),
  collapseMarker: seen(/\[Pasted Content (\d+) chars\](?: #\d+)?/g, both),

  statusRow: seen(/^[•◦] .*\(.*\besc to interrupt\)/u, both),
  busyTitle: seen(/^[\u2800-\u28ff] /u, both),
  blockedTitle: seen(/^\[ [.!] \] Action Required \|/, both),

  queueHeads: seen(
    [
      /^• Messages to be submitted after next tool call/,
      /^• Messages to be submitted at end of turn/,
      /^• Queued follow-up inputs/,
    ],
    both,
  ),
  followUpHead: seen(/^• Queued follow-up inputs/, both),
  queueItem: seen(/^ {2}↳ (.*)$/u, both),
  queueHint: seen(/^ {4}(?:shift\+←|alt ?\+ ?↑|⌥ ?\+ ?↑) edit/u, '0.169.0'),

  /** Rows under the composer. */
  startingFooter: seen(/^ {2}Waiting for startup\b/, '0.169.0'),
  bareShortcutsFooter: seen(/^ {2}\? for shortcuts\s*$/, '0.169.0'),
  searchFooter: seen(/^ {2}reverse-i-search:/, both),
  completionHint: seen(/^ {2}enter(?:\/tab)? insert · esc close/, both),
  /** The box above an empty conversation before the session is configured. */
  loadingHeader: seen(/^│ model: +loading\b/u, '0.156.1'),

  questionHead: seen(/^ {2}Question (\d+)\/(\d+)(?: \(\d+ unanswered\))?\s*$/, both),
  questionFoot: seen(/^ {2}tab (?:to add notes|or esc to clear notes)\b/, both),
  option: seen(/^ {2}(›| ) (\d+)\. (.*)$/u, both),
  notesRow: seen(/^ {2}› (?!\d+\. )(.*)$/u, both),
  notesPlaceholder: seen('Add notes', both),
  noneOption: seen('None of the above', both),
};

/** Foreground of a collapse marker; the same words in another colour are just text. */
export const markerColour: Seen<number> = seen(6, both);

export interface DialogPattern {
  readonly hold: string;
  readonly seenIn: string;
  /** A row that names the dialog. */
  readonly head: RegExp;
  /** A row below it that a quotation in the conversation wouldn't have at the screen's end. */
  readonly foot: RegExp;
}

/** Dialogs in which the cursor is hidden. The first match wins. */
export const dialogs: readonly DialogPattern[] = [
  {
    hold: 'permission',
    seenIn: both,
    head: /^ {2}Would you like to run the following command\?/,
    foot: /^ {2}Press enter to confirm or esc to cancel/,
  },
  {
    hold: 'permission',
    seenIn: both,
    head: /^ {2}Would you like to make the following edits\?/,
    foot: /^ {2}Press enter to confirm or esc to cancel/,
  },
  {
    hold: 'question',
    seenIn: both,
    head: strings.questionHead.is,
    foot: strings.questionFoot.is,
  },
  {
    hold: 'trust',
    seenIn: both,
    head: /^ {2}Trust this folder\?/,
    foot: /^› 1\. Trust and continue/u,
  },
  {
    hold: 'update',
    seenIn: both,
    head: /^ {2}Update available · /u,
    foot: /^ {2}enter continue · esc skip/u,
  },
  {
    hold: 'hooks_review',
    seenIn: both,
    head: /^ {2}Hooks need review/,
    foot: /^ {2}enter confirm · esc skip/u,
  },
  {
    hold: 'model_migration',
    seenIn: both,
    head: /^[› ] 1\. Try new model/u,
    foot: /^ {2}enter\/esc confirm · /u,
  },
  {
    hold: 'model_picker',
    seenIn: both,
    head: /^ {2}Select (?:Model and Effort|Model|Reasoning Level)/,
    foot: /^ {2}enter select · esc back|^ {2}Press enter to (?:confirm|select)/,
  },
  {
    hold: 'resume_picker',
    seenIn: both,
    head: /^ (?:Resume|Fork) a previous session/,
    foot: /^ enter (?:resume|fork) /,
  },
  {
    hold: 'agents',
    seenIn: '0.169.0',
    head: /^ {2}Agent command center\b/,
    foot: /^ {2}\? help {2}esc back/,
  },
  {
    hold: 'rewind',
    seenIn: both,
    head: /^ {0,2}Browsing transcript · .*rewind · esc back/u,
    foot: /^ {0,2}Browsing transcript · /,
  },
  { hold: 'transcript', seenIn: both, head: /^\/ T R A N S C R I P T /, foot: /^ q close/ },
  { hold: 'pager', seenIn: both, head: /^\/ (?:[A-Z] )+\//, foot: /^ q close/ },
  {
    hold: 'locked',
    seenIn: both,
    head: /^ {2}\S+ +This conversation is open in another app/u,
    foot: /^ {3}r retry {3}/,
  },
  {
    hold: 'sign_in',
    seenIn: both,
    head: /^[> ] 1\. Sign in with ChatGPT/u,
    foot: /^ {2}Press enter to continue/i,
  },
  {
    hold: 'menu',
    seenIn: both,
    head: /^› |^ {2}\d+\. /u,
    foot: /^ {2}enter (?:select|details|open|continue|toggle|save)\b.* · esc (?:back|close|quit|cancel)/u,
  },
];
