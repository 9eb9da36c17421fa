import type { TerminalSignals } from './snapshot.js';

/** Characters of a title or of one field of a state that are kept. */
export const maxSignalCharacters = 512;

function bounded(text: string): string {
  // A cut in the middle of a pair would leave half a character.
  const cut = text.slice(0, maxSignalCharacters);
  return text.length > cut.length && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

export function readTitle(text: string, atMs: number): TerminalSignals['title'] {
  return { text: bounded(text), atMs };
}

/** `state=idle:app=name:kind=word`, parts in any order; null without a state. */
export function readProgramState(data: string, atMs: number): TerminalSignals['programState'] {
  const fields = new Map<string, string>();
  for (const part of data.slice(0, 4 * maxSignalCharacters).split(/[;:]/)) {
    const equals = part.indexOf('=');
    if (equals > 0) fields.set(part.slice(0, equals), bounded(part.slice(equals + 1)));
  }
  const state = fields.get('state');
  if (state === undefined) return null;
  return { state, app: fields.get('app') ?? null, kind: fields.get('kind') ?? null, atMs };
}
