import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Reading } from '../reading.js';
import { loadCast, replayScreens } from '../recordings/index.js';
import { CodexReader } from './reader.js';

const reader = new CodexReader('0.169.0');

async function readings(): Promise<Map<string, Reading>> {
  const cast = await loadCast(
    fileURLToPath(new URL('../../../../fixtures/codex/0.169.0/questions.cast', import.meta.url)),
  );
  const marks = cast.events.flatMap((event) =>
    event.kind === 'm' ? [{ label: event.data, at: event.atSeconds }] : [],
  );
  const found = new Map<string, Reading>();
  const screens = replayScreens(
    cast,
    marks.map((mark) => mark.at),
  );
  for (const { label } of marks) {
    const { value: snapshot } = await screens.next();
    if (snapshot) found.set(label, reader.read(snapshot));
  }
  return found;
}

test('an option is reached key by key, each step settled by the screen', async () => {
  const seen = await readings();
  const [first, second, none, answered] = ['question', 'second option', 'none', 'answered'].map(
    (label) => seen.get(label),
  );
  if (!first?.question || !second || !none || !answered) throw new Error('recording incomplete');
  const plan = reader.planAnswer(first.question, { 'Which colour do you want?': 'Blue' });
  if (plan.kind !== 'ready') throw new Error(plan.reason);
  expect(plan.steps.map((step) => step.keys)).toEqual(['\u001b[B', '\r']);
  expect(plan.steps.map((step) => step.settled(first))).toEqual([false, false]);
  expect(plan.steps[0]?.settled(second)).toBe(true);
  expect(plan.steps[0]?.settled(none)).toBe(false);
  expect(plan.steps[1]?.settled(answered)).toBe(true);
});

test('a text that is no option goes into the notes of the last one', async () => {
  const seen = await readings();
  const open = seen.get('question')?.question;
  if (!open) throw new Error('recording incomplete');
  const plan = reader.planAnswer(open, { 'Which colour do you want?': 'a green one' });
  if (plan.kind !== 'ready') throw new Error(plan.reason);
  expect(plan.steps.map((step) => step.keys)).toEqual([
    '\u001b[B',
    '\u001b[B',
    '\t',
    '\u001b[200~a green one\u001b[201~',
    '\r',
  ]);
  const settledAt = ['second option', 'none', 'notes open', 'notes written', 'answered'];
  for (const [index, label] of settledAt.entries()) {
    const reading = seen.get(label);
    expect(reading && plan.steps[index]?.settled(reading), label).toBe(true);
  }
});

test('one question of two is one of its own, and changes with the screen', async () => {
  const seen = await readings();
  const first = seen.get('first of two');
  const second = seen.get('second of two');
  if (!first?.question || !second) throw new Error('recording incomplete');
  const plan = reader.planAnswer(first.question, { 'Which colour do you want?': 'Red' });
  expect(plan.kind === 'ready' && plan.steps.at(-1)?.settled(second)).toBe(true);
  expect(second.question?.fingerprint).not.toBe(first.question.fingerprint);
});

test('refusals', async () => {
  const open = (await readings()).get('question')?.question;
  if (!open) throw new Error('recording incomplete');
  const key = 'Which colour do you want?';
  expect(reader.planAnswer(open, { other: 'Red' })).toMatchObject({ reason: 'question_unknown' });
  expect(reader.planAnswer(open, { [key]: 'two\nlines' })).toMatchObject({
    reason: 'answer_not_plain',
  });
  expect(reader.planAnswer(open, { [key]: 'x'.repeat(201) })).toMatchObject({
    reason: 'answer_not_plain',
  });
});
