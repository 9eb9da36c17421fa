import { describe, expect, test } from 'vitest';
import type { TurnEnd } from './machine-types.js';
import { rig } from './testing/fake-agent.js';

const consumed = (text: string, atMs: number) =>
  ({
    kind: 'input_consumed',
    text,
    evidence: 'record',
    inputRef: `ref ${text}`,
    turnRef: 't1',
    atMs,
  }) as const;
const end = (texts: readonly string[], more: Partial<TurnEnd> = {}): TurnEnd => ({
  kind: 'turn_ended',
  turnRef: 't1',
  outcome: 'completed',
  inputRefs: texts.map((text) => `ref ${text}`),
  finalText: 'Done.',
  atMs: 0,
  ...more,
});

/** `texts` sent and consumed, each under its own name. */
async function taken(...texts: readonly string[]): Promise<Awaited<ReturnType<typeof rig>>> {
  const world = await rig();
  for (const text of texts) world.session.submit(text, text);
  await world.settle();
  for (const text of texts) world.session.engineEvent(consumed(text, world.wallMs()));
  return world;
}

describe('a record that only puts inputs between a start and an end', () => {
  test('one input is completed by the end', async () => {
    const { session, receipt } = await taken('a');
    session.engineEvent(end(['a'], { tie: 'order' }));
    expect(receipt('a').state).toBe('completed');
  });

  test('several are not, a person’s among them counted', async () => {
    const { session, receipt } = await taken('a');
    session.engineEvent(end(['a', 'of a person'], { tie: 'order' }));
    expect(receipt('a')).toMatchObject({ state: 'unknown', error: { code: 'OVERLAPPING_INPUTS' } });
    const both = await taken('a', 'b');
    both.session.engineEvent(end(['a', 'b'], { tie: 'order' }));
    for (const name of ['a', 'b']) {
      expect(both.receipt(name).error?.code).toBe('OVERLAPPING_INPUTS');
    }
  });

  test('the doubt is over with the end: the next input is completed by its own', async () => {
    const { session, receipt, settle, wallMs } = await taken('a', 'b');
    session.engineEvent(end(['a', 'b'], { tie: 'order' }));
    session.submit('c', 'c');
    await settle();
    session.engineEvent(consumed('c', wallMs()));
    session.engineEvent(end(['c'], { tie: 'order' }));
    expect(receipt('c').state).toBe('completed');
  });
});

test('inputs the record will not tie any more are in doubt, the others go on', async () => {
  const { session, receipt } = await taken('a', 'b');
  session.engineEvent({ kind: 'inputs_untied', inputRefs: ['ref a'], atMs: 0 });
  expect(receipt('a')).toMatchObject({
    state: 'unknown',
    error: { code: 'RESULT_EVIDENCE_MISSING' },
  });
  session.engineEvent(end(['b']));
  expect(receipt('b').state).toBe('completed');
});

test('an entry that an earlier process has credited is nobody else’s', async () => {
  const { session, receipt, settle, wallMs } = await rig();
  session.submit('a', 'same');
  await settle();
  session.engineEvent(consumed('same', wallMs()), 'a delivery of long ago');
  expect(receipt('a').state).toBe('delivered');
  session.engineEvent({ ...consumed('same', wallMs()), inputRef: 'own' }, 'a');
  expect(receipt('a').state).toBe('started');
});

test('text given back before an input was sent was not this input', async () => {
  const { session, receipt, settle, wallMs } = await rig();
  const before = wallMs() - 1_000;
  session.submit('a', 'A');
  await settle();
  session.engineEvent({ kind: 'input_withdrawn', text: null, atMs: before });
  expect(receipt('a').state).toBe('delivered');
  session.engineEvent({ kind: 'input_withdrawn', text: null, atMs: wallMs() });
  expect(receipt('a').error?.code).toBe('NOT_CONFIRMED');
});
