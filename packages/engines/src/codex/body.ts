import { createHash } from 'node:crypto';
import { sanitiseBody } from '@ostler/terminal';
import type { BodyVerdict } from '../engine.js';
import { compareVersions } from '../find-executable.js';

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

/** Forms that were seen to keep a text a prompt, by the versions they were seen in. */
const proven = {
  /** `/…` behind a space is text. */
  slash: { since: '0.156.1', before: '0.170.0' },
  /** `!…` behind a space is text; 0.156.1 runs it all the same. */
  shell: { since: '0.169.0', before: '0.170.0' },
  /** A paste that collapses into a marker is text, whatever it begins with. */
  collapsed: { since: '0.156.1', before: '0.170.0' },
} as const;

function isProven(version: string | null, form: keyof typeof proven): boolean {
  if (version === null) return false;
  const { since, before } = proven[form];
  return compareVersions(version, since) >= 0 && compareVersions(version, before) < 0;
}

/**
 * Makes a text a prompt and nothing else. The engine trims a prompt at both ends
 * when it takes it, so a space in front (against `/commands` and `!shell` lines)
 * and one behind (closes the popup of a trailing `@file` or `$skill`, which would
 * eat the Enter) leave the recorded text exact. A text long enough to collapse
 * needs neither.
 *
 * A text that ends like an image's file name goes in two pastes: a paste that is
 * the path of an existing image, and nothing else, would become an attachment.
 *
 * `$skill` within the text stays: the engine then adds that skill's part to the
 * prompt if such a skill is installed, because the text names it. The recorded
 * text is the same.
 */
export function prepareCodexBody(text: string, version: string | null): BodyVerdict {
  const recorded = recordedText(text);
  if (recorded === null) {
    return refused(
      'lone_surrogate',
      'The text holds half a surrogate pair, which has no UTF-8 form. Send whole characters.',
    );
  }
  if (recorded === '') {
    return refused('blank', 'Nothing is left of the text but white space, which Codex ignores.');
  }
  const collapses = scalarCount(recorded) > COLLAPSE_ABOVE_SCALARS;
  const first = recorded.startsWith('!') ? 'shell' : recorded.startsWith('/') ? 'slash' : null;
  if (first !== null && !isProven(version, collapses ? 'collapsed' : first)) {
    const what =
      first === 'shell'
        ? 'runs a text that begins with ! in a shell'
        : 'takes a text that begins with / for a command';
    return refused(
      first === 'shell' ? 'shell_line' : 'slash_command',
      `Codex ${version ?? 'of an unknown version'} ${what}. Put a word in front of it.`,
    );
  }
  if (collapses) return { kind: 'ready', body: { frames: [recorded], text: recorded } };
  const front = first === null ? '' : ' ';
  const lastToken = /\S*$/u.exec(recorded)?.[0] ?? '';
  const behind = /[@$]/u.test(lastToken) ? ' ' : '';
  return {
    kind: 'ready',
    body: { frames: frames(`${front}${recorded}${behind}`), text: recorded },
  };
}

function refused(reason: string, message: string): BodyVerdict {
  return { kind: 'refused', reason, message };
}

function frames(paste: string): string[] {
  if (!imagePath.test(paste)) return [paste];
  const cut = paste.lastIndexOf('.') + 2;
  return [paste.slice(0, cut), paste.slice(cut)];
}
