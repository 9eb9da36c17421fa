import { describe, expect, test } from 'vitest';
import type { QuestionPrompt, Reading } from '../reading.js';
import { unreadable } from '../reading.js';
import { planAnswer } from './answer.js';

const prompt: QuestionPrompt = {
  header: 'Colour',
  text: 'Which colour?',
  options: ['Green', 'Blue'],
  multiSelect: false,
};
const ask = (change: Partial<QuestionPrompt> = {}) => ({
  fingerprint: 'f1',
  prompts: [{ ...prompt, ...change }],
});
const keysOf = (plan: ReturnType<typeof planAnswer>): string[] =>
  plan.kind === 'ready' ? plan.steps.map((step) => step.keys) : [plan.reason];

describe('keys', () => {
  test('one choice is one digit, by text or header', () => {
    expect(keysOf(planAnswer(ask(), { 'Which colour?': 'Blue' }))).toEqual(['2']);
    expect(keysOf(planAnswer(ask(), { Colour: 'Green' }))).toEqual(['1']);
  });
  test('several choices, then the review', () => {
    const question = ask({ multiSelect: true });
    expect(keysOf(planAnswer(question, { Colour: 'Blue\nGreen' }))).toEqual([
      '2',
      '1',
      '\u001b[C',
      '1',
    ]);
  });
  test('one of several questions leaves the review to an answer of its own', () => {
    const question = ask({ multiSelect: true, header: null });
    expect(keysOf(planAnswer(question, { 'Which colour?': 'Blue' }))).toEqual(['2', '\u001b[C']);
  });
  test('own words go into the row for them', () => {
    expect(keysOf(planAnswer(ask(), { Colour: 'dark\u001b green' }))).toEqual([
      '3',
      '\u001b[200~dark green\u001b[201~',
      '\r',
    ]);
  });
  test.each([
    [ask(), {}, 'answer_missing'],
    [ask(), { Colour: 'two\nlines' }, 'not_an_option'],
    [ask({ multiSelect: true }), { Colour: 'Red' }, 'not_an_option'],
    [ask({ text: 'Review your answers' }), { 'Review your answers': 'x' }, 'not_an_option'],
    [{ fingerprint: 'f1', prompts: [] }, { Colour: 'Red' }, 'question_unreadable'],
  ])('refused %#', (question, answers, reason) => {
    expect(keysOf(planAnswer(question, answers))).toEqual([reason]);
  });
});

test('a step is done when the screen shows it', () => {
  const plan = planAnswer(ask({ multiSelect: true }), { Colour: 'Blue' });
  if (plan.kind !== 'ready') throw new Error(plan.reason);
  const [tick, leave] = plan.steps;
  const reading = (ticked: string, fingerprint = 'f1'): Reading => ({
    ...unreadable,
    readable: true,
    hold: 'question',
    question: { fingerprint, prompts: [prompt] },
    signals: [{ source: 'question_ticked', value: ticked, atMs: 0 }],
  });
  expect(tick?.settled(reading(''))).toBe(false);
  expect(tick?.settled(reading('Blue'))).toBe(true);
  expect(tick?.settled(reading('Green\nBlue'))).toBe(false);
  expect(leave?.settled(reading('Blue'))).toBe(false);
  expect(leave?.settled(reading('', 'f2'))).toBe(true);
});
