import type { DialogKind, DialogSpec } from './script.js';

/** How one kind of dialog looks and what it does with keys. The reader knows the footers, but for `unknown`. */
export interface DialogRow {
  /** The hold's name; null: a screen no reader knows. */
  readonly hold: string | null;
  readonly title: string;
  readonly body: readonly string[];
  readonly options: readonly string[];
  readonly footer: string;
  /** What a paste does: nothing, or it becomes the note that Enter sends along. */
  readonly paste: 'ignored' | 'note';
  /** What Enter does, for people and for the truth's log. */
  readonly enter: string;
}

const choose = 'Enter to choose · Esc to go back';

export const dialogTable: Readonly<Record<DialogKind, DialogRow>> = {
  permission: {
    hold: 'permission',
    title: 'May I run this command?',
    body: ['$ make deploy'],
    options: ['Yes, run it', 'No'],
    footer: 'Enter to allow · Esc to refuse',
    paste: 'ignored',
    enter: 'allows the command',
  },
  question: {
    hold: 'question',
    title: 'Which colour?',
    body: [],
    options: ['Red', 'Green', 'Blue'],
    footer: 'Digit or Enter to answer · Esc to dismiss',
    paste: 'note',
    enter: 'answers the first option',
  },
  menu: {
    hold: 'menu',
    title: 'What now?',
    body: [],
    options: ['Compact', 'Clear', 'Resume'],
    footer: choose,
    paste: 'ignored',
    enter: 'runs the entry',
  },
  trust: {
    hold: 'trust',
    title: 'Trust this folder?',
    body: [],
    options: ['Trust and continue', 'Leave'],
    footer: 'Enter to trust · Esc to leave',
    paste: 'ignored',
    enter: 'trusts the folder',
  },
  update: {
    hold: 'update',
    title: 'An update is available',
    body: [],
    options: ['Update now', 'Later'],
    footer: 'Enter to update · Esc for later',
    paste: 'ignored',
    enter: 'starts an update',
  },
  sign_in: {
    hold: 'sign_in',
    title: 'Sign in to go on',
    body: [],
    options: ['With the browser', 'With a key'],
    footer: 'Enter to sign in',
    paste: 'note',
    enter: 'starts a sign-in',
  },
  onboarding: {
    hold: 'onboarding',
    title: 'Choose how it looks',
    body: [],
    options: ['Dark', 'Light'],
    footer: 'Enter to keep this look',
    paste: 'ignored',
    enter: 'saves a setting',
  },
  model_picker: {
    hold: 'model_picker',
    title: 'Select a model',
    body: [],
    options: ['Large', 'Small'],
    footer: 'Enter to make it the default · Esc to cancel',
    paste: 'ignored',
    enter: 'saves the default model',
  },
  rewind: {
    hold: 'rewind',
    title: 'Rewind to',
    body: [],
    options: ['the last prompt', 'the one before'],
    footer: 'Enter to rewind · Esc to stay',
    paste: 'ignored',
    enter: 'throws work away',
  },
  transcript: {
    hold: 'transcript',
    title: 'The whole transcript',
    body: ['…'],
    options: [],
    footer: 'Esc to leave the transcript',
    paste: 'ignored',
    enter: 'leaves the transcript',
  },
  search: {
    hold: 'search',
    title: 'Search prompts',
    body: [],
    options: ['an old prompt'],
    footer: 'Type to search · Enter to take it · Esc to leave',
    paste: 'note',
    enter: 'takes an old prompt',
  },
  unknown: {
    hold: null,
    title: 'Something quite new',
    body: ['Nobody has seen this screen before.'],
    options: ['Go ahead'],
    footer: 'Press Enter, or not',
    paste: 'ignored',
    enter: 'does something nobody knows',
  },
};

export interface OpenDialog extends DialogRow {
  readonly kind: DialogKind;
  selected: number;
  note: string;
}

export function openDialog(dialog: DialogKind | DialogSpec): OpenDialog {
  const spec: DialogSpec = typeof dialog === 'string' ? { kind: dialog } : dialog;
  const row = dialogTable[spec.kind];
  return {
    ...row,
    kind: spec.kind,
    title: spec.title ?? row.title,
    body: spec.body ?? row.body,
    options: spec.options ?? row.options,
    selected: 0,
    note: '',
  };
}
