import { createHash } from 'node:crypto';
import type { ScreenSnapshot } from '@ostler/terminal';
import type { AnswerPlan, AnswerStep } from '../engine.js';
import type { OpenQuestion, Reading } from '../reading.js';
import { isBlank, lastTextRow } from './layout.js';
import { strings } from './strings.js';

/** What a plan looks at between its steps, beside the question itself. */
export interface CodexQuestion extends OpenQuestion {
  /** Index of the option that Enter would take. */
  readonly selected: number;
  /** Text of the notes field, or null while it is closed. */
  readonly notes: string | null;
}

const MAX_NOTE_CHARS = 200;
const DOWN = '\u001b[B';
const UP = '\u001b[A';

/**
 * The question on the screen; of several the engine shows one at a time, and each
 * is a question of its own here (codex 0.156.1 and 0.169.0, questions.cast).
 */
export function readQuestion(snapshot: ScreenSnapshot): CodexQuestion | null {
  const texts = snapshot.rows.map((row) => row.text);
  const last = lastTextRow(texts);
  if (last < 0 || !strings.questionFoot.is.test(texts[last] ?? '')) return null;
  const top = texts.findLastIndex((text) => strings.questionHead.is.test(text));
  if (top < 0) return null;
  const head = strings.questionHead.is.exec(texts[top] ?? '');
  const rows = texts.slice(top + 1, last);
  const first = rows.findIndex((text) => strings.option.is.test(text));
  if (first < 0 || !head) return null;
  const text = rows
    .slice(0, first)
    .filter((row) => !isBlank(row))
    .map((row) => row.trim())
    .join(' ');
  const options: string[] = [];
  let selected = -1;
  let notes: string | null = null;
  for (const row of rows.slice(first)) {
    const option = strings.option.is.exec(row);
    const note = strings.notesRow.is.exec(row);
    if (option) {
      if (option[1] === '›') selected = options.length;
      options.push(label(option[3] ?? ''));
    } else if (note) {
      const written = (note[1] ?? '').trimEnd();
      notes = written === strings.notesPlaceholder.is ? '' : written;
    }
  }
  return {
    fingerprint: createHash('sha256')
      .update(JSON.stringify([head[1], head[2], text, options]), 'utf8')
      .digest('hex'),
    prompts: [{ header: null, text, options, multiSelect: false }],
    selected,
    notes,
  };
}

/** An option's label ends where its description's column begins. */
function label(text: string): string {
  return text.split(/ {2,}/u, 1)[0]?.trimEnd() ?? '';
}

/**
 * Moves to the option, one look a key, then Enter. A text that is no option goes
 * into the notes of the last one (`None of the above`).
 */
export function planCodexAnswer(
  question: OpenQuestion,
  answers: Readonly<Record<string, string>>,
): AnswerPlan {
  const prompt = question.prompts[0];
  const answer = prompt ? answers[prompt.text] : undefined;
  if (!prompt || answer === undefined || question.prompts.length !== 1) {
    return refused(
      'question_unknown',
      `Key the answer by the question's text as it is shown: ${prompt?.text ?? ''}`,
    );
  }
  const index = prompt.options.indexOf(answer);
  if (index >= 0) {
    return { kind: 'ready', steps: [...moveTo(question, index), submit(question)] };
  }
  const none = prompt.options.indexOf(strings.noneOption.is);
  if (none < 0) return refused('option_unknown', 'Answer with one of the options shown.');
  const isPlain = /^[^\p{Cc}]+$/u.test(answer) && answer === answer.trim();
  if (!isPlain || answer.length > MAX_NOTE_CHARS) {
    return refused(
      'answer_not_plain',
      `An answer that is no option must be one line of at most ${MAX_NOTE_CHARS} characters.`,
    );
  }
  return {
    kind: 'ready',
    steps: [
      ...moveTo(question, none),
      { keys: '\t', settled: (reading) => seen(reading, question)?.notes === '' },
      {
        keys: `\u001b[200~${answer}\u001b[201~`,
        settled: (reading) => seen(reading, question)?.notes === answer,
      },
      submit(question),
    ],
  };
}

function moveTo(question: OpenQuestion, target: number): AnswerStep[] {
  const from = 'selected' in question ? (question as CodexQuestion).selected : 0;
  const keys = target > from ? DOWN : UP;
  const direction = Math.sign(target - from);
  return Array.from({ length: Math.abs(target - from) }, (_, step) => ({
    keys,
    settled: (reading) => seen(reading, question)?.selected === from + direction * (step + 1),
  }));
}

function submit(question: OpenQuestion): AnswerStep {
  return {
    keys: '\r',
    settled: (reading) =>
      reading.readable && reading.question?.fingerprint !== question.fingerprint,
  };
}

function seen(reading: Reading, question: OpenQuestion): CodexQuestion | null {
  const open = reading.question;
  if (!open || open.fingerprint !== question.fingerprint || !('selected' in open)) return null;
  return open as CodexQuestion;
}

function refused(reason: string, message: string): AnswerPlan {
  return { kind: 'refused', reason, message };
}
