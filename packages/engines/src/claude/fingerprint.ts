import { createHash } from 'node:crypto';

const pastedContent =
  /^\n*<pasted_content id="([0-9a-zA-Z]+)">\n([\s\S]*)\n<\/pasted_content id="([0-9a-zA-Z]+)">\n*$/;

/**
 * The text inside the envelope a collapsed paste is submitted in (claude
 * 2.1.328, fixtures/claude/2.1.328/s4-hooks-queue.cast). Only one envelope
 * around everything, with equal ids, is taken off; anything else comes back as it is.
 */
export function unwrapPastedContent(text: string): string {
  const match = pastedContent.exec(text);
  if (!match || match[1] !== match[3]) return text;
  const inner = match[2] ?? '';
  return inner.includes(`<pasted_content id="`) ? text : inner;
}

/** A text as Claude Code records it, before any change that keeps its meaning. */
export function recordedText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replace(/[\u200b\ufeff]/g, '')
    .normalize('NFC')
    .trimEnd();
}

/** SHA-256 (hex) over the recorded form, blank edges and the paste envelope taken off. */
export function claudeFingerprint(text: string): string {
  const canonical = recordedText(unwrapPastedContent(text)).trim();
  return createHash('sha256').update(canonical, 'utf8').digest('hex');
}
