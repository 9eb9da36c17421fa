import { claudeSession, damage, randomFrom } from '@ostler/lab';
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '../engine-event.js';
import { ClaudeRecord } from './record.js';

function ends(lines: readonly unknown[]): Extract<EngineEvent, { kind: 'turn_ended' }>[] {
  const record = new ClaudeRecord();
  return [...lines.flatMap((line) => record.take(line)), ...record.rotate()].filter(
    (event) => event.kind === 'turn_ended',
  );
}

describe('a thousand sessions', () => {
  test('as they are written: each end has exactly its inputs and its words', () => {
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const { lines, truths } = claudeSession(randomFrom(seed));
      for (const end of ends(lines)) {
        const truth = truths.find((each) => each.ends.includes(end.endRef ?? ''));
        if (!truth) {
          // Only an interrupted turn that left no entry may end under another name.
          for (const ref of end.inputRefs) {
            const own = truths.find(({ inputRefs }) => inputRefs.includes(ref));
            expect(own, `seed ${seed}: ${ref} by ${end.endRef}`).toMatchObject({
              ends: [],
              outcome: end.outcome,
            });
          }
          continue;
        }
        expect(end, `seed ${seed}`).toMatchObject({
          outcome: truth.outcome,
          inputRefs: truth.inputRefs,
        });
        if (truth.text !== null) expect(end.finalText, `seed ${seed}`).toBe(truth.text);
      }
      const told = new Set(ends(lines).map(({ endRef }) => endRef));
      for (const truth of truths) {
        if (truth.ends.length > 0) expect(told.has(truth.ends[0] ?? ''), `seed ${seed}`).toBe(true);
      }
    }
  });

  test('shuffled, doubled and cut: never a wrong member, never half an answer', () => {
    let tied = 0;
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const random = randomFrom(seed);
      const { lines, truths } = claudeSession(random);
      const closed = new Set<string>();
      for (const end of ends(damage(lines, random))) {
        const truth = truths.find((each) => each.ends.includes(end.endRef ?? ''));
        const abandoned = end.endRef?.startsWith('abandoned:') === true;
        for (const ref of end.inputRefs) {
          tied += 1;
          expect(closed.has(ref), `seed ${seed}: ${ref} is closed twice`).toBe(false);
          closed.add(ref);
          const own = truths.find(({ inputRefs }) => inputRefs.includes(ref));
          expect(own?.outcome, `seed ${seed}: ${ref} by ${end.endRef}`).toBe(
            abandoned ? 'cancelled' : truth?.outcome,
          );
          if (!abandoned) expect(own, `seed ${seed}: ${ref} by ${end.endRef}`).toBe(truth);
        }
        if (end.outcome === 'completed' && end.inputRefs.length > 0) {
          expect(end.finalText, `seed ${seed}`).toBe(truth?.text);
        }
      }
    }
    expect(tied).toBeGreaterThan(500);
  });
});
