/** What a terminal sends around a paste while mode 2004 is on. */
export const pasteStart = '\u001b[200~';
export const pasteEnd = '\u001b[201~';

/** Each frame in brackets of its own, back to back. The frames must be sanitised. */
export function bracketedPaste(frames: readonly string[]): string {
  return frames.map((frame) => `${pasteStart}${frame}${pasteEnd}`).join('');
}
