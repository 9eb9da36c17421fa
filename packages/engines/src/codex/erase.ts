import type { PreparedBody } from '../engine.js';

const maxKeys = 4_000;

/**
 * Ctrl-U takes the line left of the cursor, and at a line's start the newline before it; a
 * collapse marker goes whole. It does nothing to an empty composer, where Ctrl-C would
 * quit (codex 0.169.0, tried by hand).
 */
export function eraseKeys(body: PreparedBody): string {
  const lines = body.text.split('\n').length;
  return '\u0015'.repeat(Math.min(2 * lines + 1, maxKeys));
}
