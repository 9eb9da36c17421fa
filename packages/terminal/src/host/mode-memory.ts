const escape = 0x1b;
const maxParameterCharacters = 64;
const maxModes = 64;

/**
 * Reads a byte stream for what a repaint does not say again: private modes (2004, 1049,
 * 25, …) set and reset, the scroll region, a full reset. Not a terminal: it only finds
 * those sequences, wherever a chunk cuts them.
 */
export class ModeMemory {
  readonly #modes = new Map<number, boolean>();
  #region = '';
  #state: 'text' | 'escape' | 'sequence' = 'text';
  #parameters = '';

  clear(): void {
    this.#modes.clear();
    this.#region = '';
    this.#state = 'text';
  }

  read(data: Uint8Array): void {
    for (let at = 0; at < data.length; at += 1) {
      if (this.#state === 'text') {
        at = data.indexOf(escape, at);
        if (at < 0) return;
        this.#state = 'escape';
        continue;
      }
      this.#next(data[at] ?? 0);
    }
  }

  /** Sets all that again; ends within a sequence where the bytes that were read do. */
  sequences(): string {
    const modes = [...this.#modes].map(([mode, on]) => `\u001b[?${mode}${on ? 'h' : 'l'}`);
    return modes.join('') + this.#region + this.#begun();
  }

  #begun(): string {
    if (this.#state === 'text') return '';
    return this.#state === 'escape' ? '\u001b' : `\u001b[${this.#parameters}`;
  }

  #next(byte: number): void {
    const character = String.fromCharCode(byte);
    if (byte === escape) this.#state = 'escape';
    else if (this.#state === 'escape') {
      if (character === 'c') this.clear();
      this.#state = character === '[' ? 'sequence' : 'text';
      this.#parameters = '';
    } else if (byte >= 0x20 && byte < 0x40 && this.#parameters.length < maxParameterCharacters)
      this.#parameters += character;
    else {
      this.#state = 'text';
      this.#finish(character);
    }
  }

  #finish(final: string): void {
    const parameters = this.#parameters;
    if ((final === 'h' || final === 'l') && /^\?[\d;]+$/.test(parameters))
      for (const mode of parameters.slice(1).split(';')) this.#set(Number(mode), final === 'h');
    else if (final === 'r' && /^[\d;]*$/.test(parameters)) this.#region = `\u001b[${parameters}r`;
    else if (final === 'p' && parameters === '!') {
      this.#region = '\u001b[r';
      this.#set(25, true);
    }
  }

  #set(mode: number, on: boolean): void {
    // Set last comes last: two modes may mean the same screen.
    this.#modes.delete(mode);
    if (this.#modes.size < maxModes) this.#modes.set(mode, on);
  }
}
