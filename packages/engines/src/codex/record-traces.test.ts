import { codexThread, damage, randomFrom } from '@ostler/lab';
import { expect, test } from 'vitest';
import type { EngineEvent } from '../engine-event.js';
import { CodexRecordReader } from './record.js';

function ends(lines: readonly object[]): Extract<EngineEvent, { kind: 'turn_ended' }>[] {
  const reader = new CodexRecordReader('thread');
  return lines
    .flatMap((line, index) => reader.read(line, index))
    .filter((event) => event.kind === 'turn_ended');
}

test('a thousand threads as they are written: each end has exactly its inputs', () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const { lines, truths } = codexThread(randomFrom(seed));
    const told = ends(lines).map(({ endRef, inputRefs, outcome, finalText }) => {
      return {
        ends: [endRef],
        outcome,
        inputRefs,
        text: outcome === 'cancelled' ? null : finalText,
      };
    });
    expect(told, `seed ${seed}`).toEqual(truths);
  }
});

test('a thousand threads shuffled, doubled and cut: never a wrong member', () => {
  let tied = 0;
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = randomFrom(seed);
    const { lines, truths } = codexThread(random);
    const closed = new Set<string>();
    for (const end of ends(damage(lines, random))) {
      const truth = truths.find((each) => each.ends.includes(end.endRef ?? ''));
      for (const ref of end.inputRefs) {
        tied += 1;
        expect(closed.has(ref), `seed ${seed}: ${ref} is closed twice`).toBe(false);
        closed.add(ref);
        expect(truth?.inputRefs, `seed ${seed}`).toContain(ref);
      }
      expect(end.outcome, `seed ${seed}`).toBe(truth?.outcome);
      if (end.outcome !== 'cancelled') expect(end.finalText, `seed ${seed}`).toBe(truth?.text);
    }
  }
  expect(tied).toBeGreaterThan(500);
});
