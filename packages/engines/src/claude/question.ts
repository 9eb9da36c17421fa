import { createHash } from 'node:crypto';
import type { ScreenSnapshot } from '@ostler/terminal';
import type { OpenQuestion, QuestionPrompt } from '../reading.js';
import { isRule, lastIndexWhere, textsBetween } from './rows.js';

const optionRow = /^(?:❯| ) (\d+)\. (?:\[(.)\] ?|[☐☑✔] )?(.*)$/;
const tabRow = /^(?:← )?\s*[☐☒☑✔] /;
/** What the dialog adds below the asked options. */
const ownOptions = /^(?:Type something\.?|Chat about this|Submit|Next)$/;

/**
 * The question dialog: a rule, the tab row (`☐ Color`), the question, numbered
 * options, a rule, `Chat about this`, a footer (claude 2.1.328,
 * fixtures/claude/2.1.328/s5-dialogs.cast at 25.6). Only the question on top is readable.
 */
export function readQuestion(snapshot: ScreenSnapshot): OpenQuestion | null {
  const { rows, cols } = snapshot;
  const lower = lastIndexWhere(rows, (row) => isRule(row, cols));
  const upper = lastIndexWhere(rows, (row) => isRule(row, cols), lower);
  if (upper < 0) return null;
  const texts = textsBetween(snapshot, upper + 1, lower);
  const prompt = readPrompt(texts);
  if (!prompt) return null;
  return { fingerprint: fingerprintOf(prompt), prompts: [prompt] };
}

function readPrompt(texts: readonly string[]): QuestionPrompt | null {
  const firstOption = texts.findIndex((text) => optionRow.test(text));
  if (firstOption < 0) return null;
  const head = texts.slice(0, firstOption);
  const tabs = head[0] !== undefined && tabRow.test(head[0]) ? head[0] : null;
  const text = head
    .slice(tabs === null ? 0 : 1)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
  const options: string[] = [];
  let multiSelect = false;
  for (const line of texts.slice(firstOption)) {
    const match = optionRow.exec(line);
    if (!match) continue;
    if (match[2] !== undefined) multiSelect = true;
    options.push((match[3] ?? '').trim());
  }
  // The row for free text is the last one; its words change as one types into it.
  options.pop();
  return {
    header: tabs === null ? null : headerOf(tabs),
    text,
    options: options.filter((option) => !ownOptions.test(option)),
    multiSelect,
  };
}

/** One tab: its name. Several: null, the screen's text doesn't say which one is on top. */
function headerOf(tabs: string): string | null {
  const names = tabs.split(/[☐☒☑✔←→]/).flatMap((part) => part.trim() || []);
  return names.length === 1 ? (names[0] ?? null) : null;
}

function fingerprintOf(prompt: QuestionPrompt): string {
  return createHash('sha256').update(JSON.stringify(prompt)).digest('hex').slice(0, 32);
}
