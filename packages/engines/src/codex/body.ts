import { createHash } from 'node:crypto';
import { sanitiseBody } from '@ostler/terminal';
import type { BodyVerdict } from '../engine.js';

/** A paste longer than this shows as a marker (codex 0.169.0, s1b-composer-special.cast). */
export const COLLAPSE_ABOVE_SCALARS = 1_000;

const edges = /^\p{White_Space}+|\p{White_Space}+$/gu;
const imagePath = /\.(?:png|jpe?g|gif|webp|bmp|tiff?|ico|avif|heic|svg|pnm|tga|dds|qoi)["'\\]*$/iu;

/**
 * The text as the engine records a typed prompt: LF line ends, no control
 * characters, trimmed. Null where it has no UTF-8 form.
 */
export function recordedText(text: string): string | null {
  const clean = sanitiseBody(text);
  return clean.kind === 'ready' ? clean.text.replace(edges, '') : null;
}

/** SHA-256 (hex) of the recorded text. */
export function fingerprintOf(text: string): string {
  return createHash('sha256')
    .update(recordedText(text) ?? text, 'utf8')
    .digest('hex');
}

export function scalarCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Makes a text a prompt and nothing else. The engine trims a prompt at both ends
 * when it takes it, so a space in front (against `/commands` and `!shell` lines)
 * and one behind (closes the popup of a trailing `@file` or `$skill`, which would
 * eat the Enter) leave the recorded text exact.
 *
 * A text that ends like an image's file name goes in two pastes: a paste that is
 * the path of an existing image, and nothing else, would become an attachment.
 *
 * `$skill` within the text stays: the engine then adds that skill's part to the
 * prompt if such a skill is installed, because the text names it. The recorded
 * text is the same.
 */
export function prepareCodexBody(text: string): BodyVerdict {
  const recorded = recordedText(text);
  if (recorded === null) {
    return {
      kind: 'refused',
      reason: 'lone_surrogate',
      message:
        'The text holds half a surrogate pair, which has no UTF-8 form. Send whole characters.',
    };
  }
  if (recorded === '') {
    return {
      kind: 'refused',
      reason: 'blank',
      message: 'The text is blank after control characters are removed; the engine ignores it.',
    };
  }
  const front = /^[/!]/u.test(recorded) ? ' ' : '';
  const lastToken = /\S*$/u.exec(recorded)?.[0] ?? '';
  const behind = /[@$]/u.test(lastToken) ? ' ' : '';
  return {
    kind: 'ready',
    body: { frames: frames(`${front}${recorded}${behind}`), text: recorded },
  };
}

function frames(paste: string): string[] {
  if (!imagePath.test(paste)) return [paste];
  const cut = paste.lastIndexOf('.') + 2;
  return [paste.slice(0, cut), paste.slice(cut)];
}
