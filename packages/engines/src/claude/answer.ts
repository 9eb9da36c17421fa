import type { AnswerPlan } from '../engine.js';
import type { OpenQuestion } from '../reading.js';

/** Digits choose options; the dialog numbers no more than nine. */
const maxOptions = 9;

/**
 * A choice is one digit, sent while the very question asked about is on the
 * screen; it is done once that question is gone.
 */
export function planAnswer(
  question: OpenQuestion,
  answers: Readonly<Record<string, string>>,
): AnswerPlan {
  const [prompt, another] = question.prompts;
  if (!prompt || another) {
    return refused(
      'question_unreadable',
      'Answer in the terminal: the dialog shows no single question.',
    );
  }
  if (prompt.multiSelect) {
    return refused(
      'multi_select',
      'Answer in the terminal: several choices at once are not driven.',
    );
  }
  const given =
    answers[prompt.text] ?? (prompt.header === null ? undefined : answers[prompt.header]);
  if (given === undefined) {
    return refused('answer_missing', `Give an answer under the question's text: “${prompt.text}”.`);
  }
  const index = prompt.options.indexOf(given);
  if (index < 0 || index >= maxOptions) {
    return refused('not_an_option', `Choose one of: ${prompt.options.join(', ')}.`);
  }
  return {
    kind: 'ready',
    steps: [
      {
        keys: String(index + 1),
        settled: (reading) => reading.question?.fingerprint !== question.fingerprint,
      },
    ],
  };
}

function refused(reason: string, message: string): AnswerPlan {
  return { kind: 'refused', reason, message };
}
