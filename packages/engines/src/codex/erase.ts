import type { PreparedBody } from '../engine.js';
import { COLLAPSE_ABOVE_SCALARS, scalarCount } from './body.js';

const maxKeys = 4_000;

/**
 * Ctrl-U takes the line left of the cursor, and at a line's start the newline before it; a
 * collapse marker goes whole. It does nothing to an empty composer, where Ctrl-C would
 * quit. No key too many: 0.169.0 takes some 10 ms for each, and a paste sent meanwhile waits
 * behind them (codex 0.156.1 and 0.169.0, 51 drafts each).
 */
export function eraseKeys(body: PreparedBody): string {
  let lines = 1;
  for (const frame of body.frames) {
    if (scalarCount(frame) <= COLLAPSE_ABOVE_SCALARS) lines += frame.split('\n').length - 1;
  }
  return '\u0015'.repeat(Math.min(2 * lines + 1, maxKeys));
}
