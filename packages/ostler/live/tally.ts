import type { ModelServer, PinnedEngine } from '@ostler/lab';
import type { Receipt } from '@ostler/protocol';

export interface Account {
  readonly sent: number;
  readonly received: number;
  readonly refused: number;
  /** In doubt, and never received. */
  readonly unknown: number;
  /** Each a sentence; empty when every delivery was received once or truthfully refused. */
  readonly faults: readonly string[];
}

const accepted: readonly Receipt['state'][] = ['delivered', 'started', 'completed'];

/** Everything sent in one session, to be held against what the model received. */
export class Tally {
  readonly #pin: PinnedEngine;
  readonly #texts = new Map<string, string>();
  readonly #typedByPerson: string[] = [];
  #count = 0;

  constructor(pin: PinnedEngine) {
    this.#pin = pin;
  }

  /** Notes a text; returns the key to send it under. */
  sent(text: string): string {
    this.#count += 1;
    const key = `live-${this.#count}`;
    this.#texts.set(key, text);
    return key;
  }

  keys(): readonly string[] {
    return [...this.#texts.keys()];
  }

  /** A text that a person submits, not Ostler. */
  typed(text: string): void {
    this.#typedByPerson.push(text);
  }

  account(model: ModelServer, receiptOf: (key: string) => Receipt): Account {
    const arrived = countAs(
      model
        .received()
        .flatMap(({ text, count }) => Array<string>(count).fill(this.#canonical(text))),
    );
    const due = countAs(this.#typedByPerson.map((text) => this.#canonical(text)));
    const mayHave = new Map(due);
    const faults: string[] = [];
    let refused = 0;
    let unknown = 0;
    for (const [key, text] of this.#texts) {
      const receipt = receiptOf(key);
      const canonical = this.#canonical(text);
      if (receipt.state === 'rejected') refused += 1;
      else if (accepted.includes(receipt.state)) add(due, canonical);
      else if (receipt.state === 'unknown') unknown += 1;
      else faults.push(`${key} is still ${receipt.state}: ${label(text)}`);
      if (receipt.state !== 'rejected') add(mayHave, canonical);
    }
    for (const [text, count] of due) {
      const got = arrived.get(text) ?? 0;
      if (got < count) faults.push(`called accepted ${count}, received ${got}: ${label(text)}`);
    }
    for (const [text, count] of arrived) {
      const most = mayHave.get(text) ?? 0;
      if (count > most) faults.push(`received ${count}, sent at most ${most}: ${label(text)}`);
    }
    const received = [...arrived.values()].reduce((sum, count) => sum + count, 0);
    return { sent: this.#texts.size, received, refused, unknown, faults };
  }

  /** A text as the engine keeps it; claude 2.1.328 and codex 0.169.0. */
  #canonical(text: string): string {
    const lines = withoutControls(text.replace(/\r\n?/g, '\n'));
    if (this.#pin.engine === 'codex') return lines.trim();
    return lines
      .replaceAll('\u2028', '\n')
      .replaceAll('\t', '    ')
      .replace(/[\u200b\u200d\ufeff]/g, '')
      .normalize('NFC')
      .trim();
  }
}

/** What the engines leave of a control sequence once its first byte is gone. */
const remains = /\[?\d+(?:;\d+)*[m~]/g;
const bracketEnd = /(?:\u001b\[|\u009b)20[01]~/g;

/** What may be pasted of a text: no form of the closing bracket, no control bytes but tab and newline. */
function withoutControls(text: string): string {
  let rest = text;
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replace(bracketEnd, '');
  }
  return [...rest]
    .filter((char) => !isControl(char))
    .join('')
    .replace(remains, '');
}

function isControl(char: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  return (code < 0x20 && char !== '\t' && char !== '\n') || (code >= 0x7f && code < 0xa0);
}

function countAs(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) add(counts, text);
  return counts;
}

function add(counts: Map<string, number>, text: string): void {
  counts.set(text, (counts.get(text) ?? 0) + 1);
}

function label(text: string): string {
  const shown = JSON.stringify(text.slice(0, 60));
  return text.length > 60 ? `${shown}… (${text.length} characters)` : shown;
}
