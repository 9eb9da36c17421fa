/** One thing read from the terminal. `raw` is what it was made of. */
export type KeyInput =
  | { readonly kind: 'paste'; readonly text: string; readonly raw: string }
  | { readonly kind: 'text'; readonly text: string; readonly raw: string }
  | { readonly kind: 'key'; readonly name: KeyName; readonly raw: string }
  /** Replies and reports of the terminal, and sequences nobody reads. */
  | { readonly kind: 'sequence'; readonly raw: string };

export type KeyName =
  | 'enter'
  | 'newline'
  | 'escape'
  | 'backspace'
  | 'tab'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'ctrl_c'
  | 'ctrl_s'
  | 'ctrl_u'
  | 'control';

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';
const maxPasteCharacters = 1024 * 1024;

const named: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl_c',
  '\u0013': 'ctrl_s',
  '\u0015': 'ctrl_u',
  '\u001b[A': 'up',
  '\u001b[B': 'down',
  '\u001b[C': 'right',
  '\u001b[D': 'left',
};

const csi = /^\u001b\[[0-?]*[ -/]*[@-~]/;
const osc = /^\u001b[\]P][^\u0007\u001b]*(?:\u0007|\u001b\\)/;

/** Cuts a terminal's input into keys and pastes, over any chunk borders. */
export class KeyParser {
  #pending = '';

  /** True while the beginning of a sequence waits for its rest. */
  get incomplete(): boolean {
    return this.#pending.length > 0 && !this.#pending.startsWith(pasteStart);
  }

  /** @param bracketed mode 2004 is on; while it is off, a bracket is only text. */
  push(input: string, bracketed: boolean): KeyInput[] {
    this.#pending += input;
    const out: KeyInput[] = [];
    while (this.#pending.length > 0) {
      const next = this.#next(bracketed);
      if (next === null) break;
      this.#pending = this.#pending.slice(next.raw.length);
      out.push(next);
    }
    return out;
  }

  /** Nothing more came: a lone ESC was the Escape key. */
  flush(): KeyInput[] {
    const raw = this.#pending;
    this.#pending = '';
    if (raw === '') return [];
    const out: KeyInput[] = [{ kind: 'key', name: 'escape', raw: '\u001b' }];
    if (raw.length > 1) out.push({ kind: 'text', text: raw.slice(1), raw: raw.slice(1) });
    return out;
  }

  #next(bracketed: boolean): KeyInput | null {
    const pending = this.#pending;
    if (pending.startsWith('\u001b')) return this.#escape(pending, bracketed);
    const text = /^[^\u0000-\u001f\u007f]+/.exec(pending)?.[0];
    if (text !== undefined) return { kind: 'text', text, raw: text };
    const raw = pending.charAt(0);
    return { kind: 'key', name: named[raw] ?? 'control', raw };
  }

  #escape(pending: string, bracketed: boolean): KeyInput | null {
    if (bracketed && pending.startsWith(pasteStart)) {
      const end = pending.indexOf(pasteEnd, pasteStart.length);
      if (end < 0 && pending.length < maxPasteCharacters) return null;
      const stop = end < 0 ? pending.length : end;
      const raw = pending.slice(0, end < 0 ? stop : end + pasteEnd.length);
      return { kind: 'paste', text: pending.slice(pasteStart.length, stop), raw };
    }
    const sequence = csi.exec(pending)?.[0] ?? osc.exec(pending)?.[0];
    if (sequence !== undefined) {
      if (!bracketed && (sequence === pasteStart || sequence === pasteEnd)) {
        return { kind: 'text', text: sequence.slice(1), raw: sequence };
      }
      const name = named[sequence];
      return name ? { kind: 'key', name, raw: sequence } : { kind: 'sequence', raw: sequence };
    }
    if (/^\u001b(?:\[[0-?]*[ -/]*|[\]P][^\u0007]*)?$/.test(pending)) return null;
    return { kind: 'key', name: 'escape', raw: '\u001b' };
  }
}
