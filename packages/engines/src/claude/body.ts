import { findLoneSurrogate, type ScreenSnapshot } from '@ostler/terminal';
import type { BodyVerdict } from '../engine.js';
import { splitFrames } from './frames.js';
import { promptText } from './prompt-text.js';
import { composerWidth, countRows } from './wrap.js';

/** Texts longer than this are refused; 16 KiB were sent whole in tests. */
export const maxBodyCharacters: number = 64 * 1024;

/** Below, a draft of several rows is cut off at the screen's edge, and from 10 rows down any line break collapses. */
const minRowsForTallDrafts = 14;

/**
 * A prompt and nothing else: what would run a command, quit or be eaten is
 * changed to a form with exactly its meaning or refused (claude 2.1.328,
 * fixtures/claude/2.1.328/s10-slash-enter.cast and s21-neutral.cast).
 * `@path` stays: Enter submits it as written, and reading the file is what a
 * prompt with a mention means.
 */
export function prepareBody(text: string, snapshot: ScreenSnapshot): BodyVerdict {
  // Before anything is taken away: what stood between two halves would make a character of them.
  if (findLoneSurrogate(text) >= 0) {
    return refused(
      'lone_surrogate',
      'The text has half a surrogate pair; send well-formed Unicode.',
    );
  }
  const clean = promptText(text);
  if (clean.trim() === '') {
    return refused('empty', 'The text is blank after control characters are dropped; send words.');
  }
  if (clean.length > maxBodyCharacters) {
    return refused(
      'too_long',
      `The text has more than ${maxBodyCharacters} characters; send it as a file.`,
    );
  }
  const acting = actingText(clean);
  if (acting) return acting;
  const shielded = shield(clean);
  const tall = countRows(shielded, composerWidth(snapshot.cols)) > 1;
  if (tall && snapshot.rows.length < minRowsForTallDrafts) {
    return refused(
      'screen_too_small',
      `The text takes several rows; make the terminal at least ${minRowsForTallDrafts} rows high.`,
    );
  }
  // A blank behind a final backslash is sent and not recorded.
  return { kind: 'ready', body: { frames: splitFrames(shielded), text: shielded.trimEnd() } };
}

function actingText(text: string): BodyVerdict | null {
  const trimmed = text.trim();
  if (/^(?:exit|quit|:q!?|:wq!?)$/.test(trimmed)) {
    return refused('quits', `“${trimmed}” ends Claude Code; add words, or stop the agent instead.`);
  }
  if (trimmed.startsWith('/') && !isPathLike(trimmed)) {
    return refused(
      'slash_command',
      'The text would run a slash command; put a word in front of the slash to send it as a prompt.',
    );
  }
  return null;
}

/** `/tmp/foo.txt is bad` and `//` are text: a command's name has no second slash. */
function isPathLike(text: string): boolean {
  const first = text.split(/\s/, 1)[0] ?? '';
  return first.indexOf('/', 1) > 0;
}

/** The changes that keep the meaning: recorded with the blank, read the same. */
function shield(text: string): string {
  const start = text.startsWith('!') ? ` ${text}` : text;
  return start.endsWith('\\') ? `${start} ` : start;
}

function refused(reason: string, message: string): BodyVerdict {
  return { kind: 'refused', reason, message };
}
