/**
 * What Claude Code makes of a pasted text by itself, made before it is sent. Left
 * to it, an invisible character costs the first Enter (claude 2.1.328,
 * fixtures/claude/2.1.328/s21-neutral.cast at 3).
 */
export function promptText(text: string): string {
  return withoutSequences(text)
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replace(controls, '')
    .replace(invisible, '')
    .replace(looseJoiners, '')
    .normalize('NFC')
    .trimEnd();
}

/** Parameters of a control sequence that is taken away; longer ones aren't any. */
const maxSequenceCharacters = 64;

/** Takes each control sequence away as it ends, so that what stood around it can complete another. */
function withoutSequences(text: string): string {
  if (!text.includes('\u001b') && !text.includes('\u009b')) return text;
  const kept: string[] = [];
  // Other controls go first: one may stand inside a sequence.
  for (const character of text.replace(otherControls, '')) {
    kept.push(character);
    if (character < '@' || character > '~') continue;
    const start = sequenceStart(kept);
    if (start >= 0) kept.length = start;
  }
  return kept.join('');
}

/** Where the sequence that the last character may end begins, or -1. */
function sequenceStart(kept: readonly string[]): number {
  const lowest = Math.max(0, kept.length - maxSequenceCharacters);
  for (let at = kept.length - 2; at >= lowest; at -= 1) {
    const character = kept[at] ?? '';
    if (character === '\u009b') return at;
    if (character === '[') return kept[at - 1] === '\u001b' ? at - 1 : -1;
    if (character < ' ' || character > '?') return -1;
  }
  return -1;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const otherControls =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009a\u009c-\u009f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;
/** Format and filler characters that were seen to be dropped, and their like. */
const invisible =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/g;
/** Joiners join only between characters beyond ASCII (emoji, Persian, Indic scripts). */
const looseJoiners =
  /(?<![\u0080-\u{10ffff}])[\u200c\u200d]|[\u200c\u200d](?![\u0080-\u{10ffff}])/gu;
