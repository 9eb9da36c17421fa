import { bracketedPaste } from '@ostler/terminal';
import type { AnswerPlan, AnswerStep } from '../engine.js';
import type { OpenQuestion, QuestionPrompt, Reading } from '../reading.js';
import { promptText } from './prompt-text.js';
import { reviewText } from './question.js';

/** Digits choose options; there are no more than nine. */
const maxOptions = 9;
/** One row of the dialog, so that what was typed can be read back. */
const maxTypedCharacters = 60;
const right = '\u001b[C';

export const typedSource = 'question_typed';
export const tickedSource = 'question_ticked';
export const focusSource = 'question_focus';

/**
 * Keys for one question, each step read back from the screen: a digit chooses;
 * of several choices each digit ticks one, then Right leads on; other words are
 * pasted into the row for them and sent with Enter (claude 2.1.280 and 2.1.328,
 * fixtures/claude/2.1.328/question-keys.cast). An answer stands under the
 * question's text or header; several choices stand one a line.
 */
export function planAnswer(
  question: OpenQuestion,
  answers: Readonly<Record<string, string>>,
): AnswerPlan {
  const [prompt, another] = question.prompts;
  if (!prompt || another) {
    return refused(
      'question_unreadable',
      'Answer in the terminal: no single question is readable.',
    );
  }
  const given =
    answers[prompt.text] ?? (prompt.header === null ? undefined : answers[prompt.header]);
  if (given === undefined || given.trim() === '') {
    return refused('answer_missing', `Give an answer under the question's text: “${prompt.text}”.`);
  }
  if (prompt.options.length >= maxOptions) {
    return refused('too_many_options', `Answer in the terminal: ${maxOptions} options or more.`);
  }
  const isGone = (reading: Reading): boolean =>
    reading.question?.fingerprint !== question.fingerprint;
  if (prompt.multiSelect) return severalChoices(prompt, given, isGone);
  const index = prompt.options.indexOf(given);
  if (index >= 0) {
    return { kind: 'ready', steps: [{ keys: String(index + 1), settled: isGone }] };
  }
  if (prompt.text === reviewText) {
    return refused('not_an_option', `Choose one of: ${prompt.options.join(', ')}.`);
  }
  return ownWords(prompt, given, isGone);
}

function severalChoices(
  prompt: QuestionPrompt,
  given: string,
  isGone: (reading: Reading) => boolean,
): AnswerPlan {
  const chosen = prompt.options.includes(given) ? [given] : given.split('\n').filter(Boolean);
  const unknown = chosen.find((choice) => !prompt.options.includes(choice));
  if (unknown !== undefined) {
    const options = prompt.options.join(', ');
    return refused(
      'not_an_option',
      `“${unknown}” isn't one of: ${options}. Give one choice a line.`,
    );
  }
  const wanted = [...new Set(chosen)];
  const steps: AnswerStep[] = wanted.map((choice, position) => ({
    keys: String(prompt.options.indexOf(choice) + 1),
    settled: (reading) => sameMembers(tickedIn(reading), wanted.slice(0, position + 1)),
  }));
  steps.push({ keys: right, settled: isGone });
  // The only question: its review is ours to submit. Of several each is answered by itself, the review too.
  if (prompt.header !== null) {
    steps.push({
      keys: '1',
      settled: (reading) => reading.readable && reading.hold !== 'question',
    });
  }
  return { kind: 'ready', steps };
}

function ownWords(
  prompt: QuestionPrompt,
  given: string,
  isGone: (reading: Reading) => boolean,
): AnswerPlan {
  const words = promptText(given).trim();
  if (words === '' || words.includes('\n') || words.length > maxTypedCharacters) {
    return refused(
      'not_an_option',
      `Choose an option, or give one line of at most ${maxTypedCharacters} characters.`,
    );
  }
  const says = (reading: Reading, source: string, value: string): boolean =>
    reading.signals.some((signal) => signal.source === source && signal.value === value);
  // The row for one's own words is the one below the options; a paste anywhere else is dropped by 2.1.280.
  const ownRow = String(prompt.options.length + 1);
  return {
    kind: 'ready',
    steps: [
      { keys: ownRow, settled: (reading) => says(reading, focusSource, ownRow) },
      {
        keys: bracketedPaste([words]),
        settled: (reading) => says(reading, typedSource, words),
      },
      { keys: '\r', settled: isGone },
    ],
  };
}

function tickedIn(reading: Reading): readonly string[] {
  const signal = reading.signals.find((entry) => entry.source === tickedSource);
  return signal === undefined || signal.value === '' ? [] : signal.value.split('\n');
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((member) => b.includes(member));
}

function refused(reason: string, message: string): AnswerPlan {
  return { kind: 'refused', reason, message };
}
