import type { EngineEvent } from '@ostler/engines';
import type { RecapTurn } from '@ostler/protocol';
import { cutToBytes, cutToCharacters, onOneLine } from './cut-text.js';

/** The most that may be asked for at a time. */
const maxTurns = 5;
const maxRecapCharacters = 60;
const maxTextCharacters = 250;
const maxFullTextBytes = 8_192;

type RecapEvent = Extract<EngineEvent, { kind: 'turn_started' | 'turn_text' | 'turn_ended' }>;

/** A text in the two short forms: on one line, and a little more of it. */
export function shortForms(text: string): { readonly recap: string; readonly text: string } {
  return {
    recap: cutToCharacters(onOneLine(text), maxRecapCharacters),
    text: cutToCharacters(text.trim(), maxTextCharacters),
  };
}

/** The latest turns of one agent by its own record: what it last said in each. */
export class Recap {
  readonly #turns: RecapTurn[] = [];

  note(turnId: string, event: RecapEvent): void {
    switch (event.kind) {
      case 'turn_started':
        this.#put(turnId, { outcome: 'running', at: event.atMs }, '');
        break;
      case 'turn_text':
        this.#put(turnId, { outcome: 'running', at: event.atMs }, event.text);
        break;
      case 'turn_ended':
        this.#put(turnId, { outcome: event.outcome, at: event.atMs }, event.finalText);
        break;
    }
  }

  /** Newest last. */
  latest(count: number): readonly RecapTurn[] {
    return this.#turns.slice(-Math.min(maxTurns, Math.max(1, count)));
  }

  /** Null keeps the text as it was. */
  #put(turnId: string, state: Pick<RecapTurn, 'outcome' | 'at'>, words: string | null): void {
    const index = this.#turns.findIndex((turn) => turn.turnId === turnId);
    const before = this.#turns[index];
    // An end is the last word on a turn.
    if (before && before.outcome !== 'running') return;
    const texts =
      words === null && before
        ? before
        : { ...shortForms(words ?? ''), fullText: cutToBytes(words ?? '', maxFullTextBytes) };
    const { recap, text, fullText } = texts;
    const turn: RecapTurn = { turnId, ...state, recap, text, fullText };
    if (before) this.#turns[index] = turn;
    else this.#turns.push(turn);
    if (this.#turns.length > maxTurns) this.#turns.shift();
  }
}
