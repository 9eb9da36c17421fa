import type { Clock, Timer } from '@ostler/runtime';
import type { PopupRule } from './script.js';

/** Popups that a draft's last word opens, each good for one eaten Enter. */
export class Popups {
  readonly #rules: readonly PopupRule[];
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #text = '';
  #rule: PopupRule | null = null;
  #timer: Timer | null = null;
  /** The draft whose popup was closed; it doesn't open again for the same text. */
  #dismissed: string | null = null;

  constructor(rules: readonly PopupRule[], clock: Clock, onChange: () => void) {
    this.#rules = rules;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get open(): readonly string[] {
    return this.#rule ? [`${this.#lastWord()} (popup)`] : [];
  }

  update(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#rule = null;
    this.#timer?.[Symbol.dispose]();
    const word = this.#lastWord();
    const rule = this.#rules.find(
      (one) => word.length > one.token.length && word.startsWith(one.token),
    );
    if (!rule || text === this.#dismissed) return;
    const show = (): void => {
      this.#rule = rule;
      this.#onChange();
    };
    if (rule.afterMs === 0) show();
    else this.#timer = this.#clock.setTimer(rule.afterMs, show);
  }

  /** The text an eaten Enter inserts, or null where no popup is open. */
  eatEnter(): string | null {
    const rule = this.#rule;
    if (!rule) return null;
    this.dismiss();
    return rule.enter === 'insert' ? rule.insert : '';
  }

  dismiss(): boolean {
    if (!this.#rule) return false;
    this.#rule = null;
    this.#dismissed = this.#text;
    return true;
  }

  #lastWord(): string {
    return /\S*$/.exec(this.#text)?.[0] ?? '';
  }
}
