import { createHash } from 'node:crypto';
import { promptText } from './prompt-text.js';

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

/** Characters that come and go between a prompt and its record without a meaning of their own. */
const fleeting = /[\p{Cf}\ufe00-\ufe0f\u034f\u115f\u1160\u3164\uffa0]/gu;

/** SHA-256 (hex) over the recorded form, blank edges, invisible characters and the paste envelope taken off. */
export function claudeFingerprint(text: string): string {
  const canonical = promptText(unwrapPastedContent(text)).replace(fleeting, '').trim();
  return createHash('sha256').update(canonical, 'utf8').digest('hex');
}
