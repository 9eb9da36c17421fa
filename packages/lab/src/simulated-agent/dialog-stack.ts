import { type OpenDialog, openDialog } from './dialogs.js';
import type { KeyInput } from './key-parser.js';
import type { DialogKind, DialogSpec } from './script.js';
import type { TruthFields } from './truth.js';

export interface DialogHost {
  truth(fields: TruthFields): void;
  ignored(key: KeyInput, why: string): void;
  onChange(): void;
  onLastClosed(): void;
}

/** The open dialogs, first opened in front. While there is one, it gets every key. */
export class DialogStack {
  readonly #host: DialogHost;
  readonly #dialogs: OpenDialog[] = [];

  constructor(host: DialogHost) {
    this.#host = host;
  }

  get front(): OpenDialog | null {
    return this.#dialogs[0] ?? null;
  }

  open(dialog: DialogKind | DialogSpec): void {
    const opened = openDialog(dialog);
    this.#dialogs.push(opened);
    this.#host.truth({ event: 'dialog_opened', dialog: opened.kind, text: opened.title });
    this.#host.onChange();
  }

  /** The front dialog goes away without a key. */
  close(): void {
    this.#remove('dialog_closed', null);
  }

  read(key: KeyInput, dialog: OpenDialog): void {
    if (key.kind === 'text' && [...key.text].length === 1) {
      const option = dialog.options[Number(key.text) - 1];
      if (option !== undefined) return this.#remove('dialog_answered', option);
    }
    if ((key.kind === 'paste' || key.kind === 'text') && dialog.paste === 'note') {
      dialog.note += key.text;
      return;
    }
    if (key.kind !== 'key') return this.#host.ignored(key, `dialog ${dialog.kind}`);
    switch (key.name) {
      case 'enter':
        return this.#remove('dialog_answered', chosen(dialog));
      case 'escape':
        return this.#remove('dialog_answered', 'escape');
      case 'up':
        dialog.selected = Math.max(0, dialog.selected - 1);
        return;
      case 'down':
        dialog.selected = Math.max(0, Math.min(dialog.options.length - 1, dialog.selected + 1));
        return;
      default:
        this.#host.ignored(key, `dialog ${dialog.kind}`);
    }
  }

  #remove(event: 'dialog_answered' | 'dialog_closed', option: string | null): void {
    const dialog = this.#dialogs.shift();
    if (!dialog) return;
    this.#host.truth({
      event,
      dialog: dialog.kind,
      text: dialog.title,
      ...(option === null ? {} : { option }),
    });
    this.#host.onChange();
    if (this.#dialogs.length === 0) this.#host.onLastClosed();
  }
}

function chosen(dialog: OpenDialog): string {
  const option = dialog.options[dialog.selected] ?? '';
  return dialog.note === '' ? option : `${option}: ${dialog.note}`;
}
