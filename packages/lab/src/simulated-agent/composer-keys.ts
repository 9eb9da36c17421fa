import type { Clock } from '@ostler/runtime';
import { Draft } from './draft.js';
import type { KeyInput } from './key-parser.js';
import { Popups } from './popups.js';
import type { SimulatedScript } from './script.js';
import type { TruthFields } from './truth.js';

export interface ComposerHost {
  readonly clock: Clock;
  truth(fields: TruthFields): void;
  ignored(key: KeyInput, why: string): void;
  onChange(): void;
  /** A whole paste is in the draft. */
  onPaste(): void;
  onSubmit(text: string): void;
  onCommand(text: string): void;
  isBusy(): boolean;
  interrupt(): void;
  /** Queued texts given back, or null. */
  withdraw(): string | null;
  quit(): void;
}

/** What keys do in the composer. */
export class ComposerKeys {
  readonly draft: Draft = new Draft();
  readonly #script: SimulatedScript;
  readonly #host: ComposerHost;
  readonly #popups: Popups;
  #stash: string | null;
  /** How many coming Enters are lost. */
  swallowEnters: number;

  constructor(script: SimulatedScript, host: ComposerHost) {
    this.#script = script;
    this.#host = host;
    this.#stash = script.stash;
    this.swallowEnters = script.swallowEnters;
    this.#popups = new Popups(script.popups, host.clock, () => host.onChange());
  }

  get popups(): readonly string[] {
    return this.#popups.open;
  }

  clear(why: string): void {
    this.#host.truth({ event: 'draft_cleared', why, text: this.draft.text });
    this.draft.clear();
    this.#popups.update('');
    this.#host.onChange();
  }

  insert(key: Extract<KeyInput, { readonly text: string }>): void {
    if (key.kind === 'text') this.draft.type(key.text);
    else {
      this.draft.paste(key.text, this.#script.look.collapse);
      this.#host.truth({ event: 'pasted', text: key.text });
    }
    this.#popups.update(this.draft.visibleText);
    this.#host.onChange();
    if (key.kind === 'paste') this.#host.onPaste();
  }

  read(key: KeyInput): void {
    if (key.kind === 'sequence') return;
    if (key.kind !== 'key') return this.insert(key);
    this.#press(key);
    this.#popups.update(this.draft.visibleText);
  }

  #press(key: Extract<KeyInput, { readonly kind: 'key' }>): void {
    switch (key.name) {
      case 'enter':
        return this.#enter();
      case 'newline':
        return this.draft.type('\n');
      case 'tab':
        return this.draft.type('\t');
      case 'backspace':
        return this.draft.backspace();
      case 'left':
        return this.draft.move(-1);
      case 'right':
        return this.draft.move(1);
      case 'up':
        return this.draft.type(this.#host.withdraw() ?? '');
      case 'ctrl_u':
        return this.draft.deleteToStart();
      case 'ctrl_s':
        return this.#swapStash();
      case 'ctrl_c':
        if (!this.draft.isEmpty) this.clear('ctrl_c');
        else if (this.#host.isBusy()) this.#host.interrupt();
        else this.#host.quit();
        return;
      case 'escape':
        if (!this.#popups.dismiss() && this.#host.isBusy()) this.#host.interrupt();
        return;
      default:
        this.#host.ignored(key, 'no meaning');
    }
  }

  #enter(): void {
    const shown = this.draft.visibleText;
    const ignore = (why: string): void =>
      this.#host.truth({ event: 'enter_ignored', why, text: shown });
    if (this.swallowEnters > 0) {
      this.swallowEnters -= 1;
      return ignore('swallowed');
    }
    const eaten = this.#popups.eatEnter();
    if (eaten !== null) {
      this.draft.type(eaten);
      return ignore('popup');
    }
    if (shown.endsWith('\\')) {
      this.draft.backspace();
      this.draft.type('\n');
      return ignore('backslash');
    }
    const text = this.draft.text.trim();
    if (text === '') return ignore('empty');
    if (text === 'exit' || text === 'quit') return this.#host.quit();
    if (/^(?:!|\/[a-z]+(?:\s|$))/.test(shown)) {
      this.draft.clear();
      return this.#host.onCommand(text);
    }
    if (this.#host.isBusy() && this.#script.busyRule === 'daemon_queue') return ignore('busy');
    this.draft.clear();
    this.draft.type(this.#stash ?? '');
    this.#stash = null;
    this.#host.onSubmit(text);
  }

  #swapStash(): void {
    const stashed = this.#stash;
    this.#stash = this.draft.isEmpty ? null : this.draft.text;
    if (this.draft.isEmpty) this.draft.type(stashed ?? '');
    else this.draft.clear();
  }
}
