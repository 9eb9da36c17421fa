import { sanitiseBody, type ScreenSnapshot } from '@ostler/terminal';
import type { BodyVerdict } from '../engine.js';
import { splitFrames } from './frames.js';

/** Texts longer than this are refused; 16 KiB were sent whole in tests. */
export const maxBodyCharacters: number = 64 * 1024;

/** Rows a terminal needs before a line break can be pasted without being collapsed. */
const minRowsForLineBreaks = 11;

/**
 * A prompt and nothing else: what would run a command, quit or be eaten is
 * changed to a form with exactly its meaning or refused (claude 2.1.328,
 * fixtures/claude/2.1.328/s10-slash-enter.cast and s21-neutral.cast).
 * `@path` stays: Enter submits it as written, and reading the file is what a
 * prompt with a mention means.
 */
export function prepareBody(text: string, snapshot: ScreenSnapshot): BodyVerdict {
  const sanitised = sanitiseBody(text.replace(controlSequences, ''));
  if (sanitised.kind === 'refused') {
    return refused(
      sanitised.reason,
      'The text has half a surrogate pair; send well-formed Unicode.',
    );
  }
  const clean = cleanText(sanitised.text);
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
  if (shielded.includes('\n') && snapshot.rows.length < minRowsForLineBreaks) {
    return refused(
      'screen_too_small',
      `A line break can't be pasted on fewer than ${minRowsForLineBreaks} rows; make the terminal taller.`,
    );
  }
  return { kind: 'ready', body: { frames: splitFrames(shielded), text: shielded } };
}

/**
 * What Claude Code would make of the bytes, made before they are sent: it stops
 * at an invisible character and lets Enter go unheard
 * (fixtures/claude/2.1.328/s21-neutral.cast at 3).
 */
function cleanText(text: string): string {
  return text
    .replace(/[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replace(invisible, '')
    .normalize('NFC')
    .trimEnd();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what it removes
const controlSequences = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g;
const invisible = /[\u200b\u2060\ufeff]/g;

function actingText(text: string): BodyVerdict | null {
  const trimmed = text.trim();
  if (/^(?:exit|quit|:q!?|:wq!?)$/i.test(trimmed)) {
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

/** `/tmp/foo.txt is bad` is text: a command's name has no second slash. */
function isPathLike(text: string): boolean {
  const first = text.split(/\s/, 1)[0] ?? '';
  return /^\/[^/]+\//.test(first);
}

/** The changes that keep the meaning: recorded with the blank, read the same. */
function shield(text: string): string {
  const start = text.startsWith('!') ? ` ${text}` : text;
  return start.endsWith('\\') ? `${start} ` : start;
}

function refused(reason: string, message: string): BodyVerdict {
  return { kind: 'refused', reason, message };
}
