import { createHash } from 'node:crypto';
import type { ScreenSnapshot } from '@ostler/terminal';
import type { OpenQuestion, QuestionPrompt } from '../reading.js';
import { isRule, lastIndexWhere, textsBetween } from './rows.js';

const optionRow = /^(❯| ) (\d+)\.(?: (?:\[(.)\] ?)?(.*))?$/;
const tabRow = /^(?:←| )\s*[☐☒] /;
/** What a dialog of several questions ends with. */
export const reviewText = 'Review your answers';
const submitTab = 'Submit';

export interface QuestionOnScreen {
  readonly question: OpenQuestion;
  /** Ticked options, of those that were asked. */
  readonly ticked: readonly string[];
  /** Words typed instead of a choice; empty when there are none. */
  readonly typed: string;
  /** Number of the row the cursor is on; 0 where it is on none. */
  readonly focus: number;
}

interface OptionRow {
  readonly number: number;
  readonly focused: boolean;
  readonly label: string;
  readonly mark: string | undefined;
}

/**
 * The question dialog: a rule, the tab row (`☐ Color`), the question, numbered
 * options, the last of them for free text, a rule, `Chat about this`, a footer
 * (claude 2.1.328, fixtures/claude/2.1.328/s5-dialogs.cast at 25.6). Of several
 * questions only the one on top is readable; the review of the answers reads as
 * a question of its own.
 */
export function readQuestion(snapshot: ScreenSnapshot): QuestionOnScreen | null {
  const { rows, cols } = snapshot;
  const lower = lastIndexWhere(rows, (row) => isRule(row, cols));
  const below = textsBetween(snapshot, lower + 1, rows.length);
  if (below.some((text) => text.trim() === reviewText)) return readReview(below);
  const upper = lastIndexWhere(rows, (row) => isRule(row, cols), lower);
  return upper < 0 ? null : readAsked(textsBetween(snapshot, upper + 1, lower));
}

function readAsked(texts: readonly string[]): QuestionOnScreen | null {
  const firstOption = texts.findIndex((text) => optionRow.test(text));
  if (firstOption < 0) return null;
  const head = texts.slice(0, firstOption);
  const tabs = head.find((text) => tabRow.test(text)) ?? null;
  const text = head
    .filter((line) => line !== tabs && line.trim() !== '')
    .map((line) => line.trim())
    .join(' ');
  const rows = optionRows(texts.slice(firstOption));
  const focus = rows.find((row) => row.focused)?.number ?? 0;
  // The row for free text is the last one; its words change as one types into it.
  const own = rows.pop();
  if (!own || rows.length === 0) return null;
  const prompt: QuestionPrompt = {
    header: tabs === null ? null : headerOf(tabs),
    text,
    options: rows.map((row) => row.label),
    multiSelect: rows.every((row) => row.mark !== undefined),
  };
  return {
    question: { fingerprint: fingerprintOf(prompt), prompts: [prompt] },
    ticked: rows.filter((row) => (row.mark ?? ' ') !== ' ').map((row) => row.label),
    typed: /^Type something\.?$/.test(own.label) ? '' : own.label,
    focus,
  };
}

function readReview(texts: readonly string[]): QuestionOnScreen | null {
  const options = optionRows(texts).map((row) => row.label);
  if (options.length === 0) return null;
  const prompt: QuestionPrompt = { header: null, text: reviewText, options, multiSelect: false };
  // The answers under review are part of what is asked.
  const fingerprint = fingerprintOf({ ...prompt, text: texts.join('\n').replaceAll('❯', ' ') });
  return { question: { fingerprint, prompts: [prompt] }, ticked: [], typed: '', focus: 0 };
}

function optionRows(texts: readonly string[]): OptionRow[] {
  return texts.flatMap((text) => {
    const match = optionRow.exec(text);
    if (!match) return [];
    const [, cursor, number, mark, label = ''] = match;
    return [{ number: Number(number), focused: cursor !== ' ', mark, label: label.trim() }];
  });
}

/** Of one question its name; of several null, the screen's text doesn't say which one is on top. */
function headerOf(tabs: string): string | null {
  const names = tabs.split(/[☐☒✔←→]/).flatMap((part) => part.trim() || []);
  const asked = names.filter((name, index) => name !== submitTab || index < names.length - 1);
  return asked.length === 1 ? (asked[0] ?? null) : null;
}

function fingerprintOf(prompt: QuestionPrompt): string {
  return createHash('sha256').update(JSON.stringify(prompt)).digest('hex').slice(0, 32);
}
