import { expect, test } from 'vitest';
import type { EngineEvent } from '../engine-event.js';
import { damage, type Random, randomFrom, type Trace, type Truth } from '../testing/traces.js';
import { CodexRecordReader } from './record.js';

/** A thread as Codex writes it, and which end closes which inputs. */
function thread(random: Random): Trace {
  const lines: object[] = [];
  const truths: Truth[] = [];
  let count = 0;
  const event = (payload: object): void => {
    count += 1;
    const timestamp = new Date(1_800_000_000_000 + count * 10).toISOString();
    lines.push({ timestamp, type: 'event_msg', payload, ordinal: count });
  };
  const turns = 1 + random.below(6);
  for (let turn = 1; turn <= turns; turn += 1) {
    const turn_id = `turn-${turn}`;
    const inputRefs: string[] = [];
    event({ type: 'task_started', turn_id });
    do {
      const id = `input-${count}`;
      inputRefs.push(id);
      const content = [{ type: 'text', text: random.pick(['same', 'other']) }];
      event({ type: 'item_completed', turn_id, item: { type: 'UserMessage', id, content } });
      if (random.chance(0.4)) event({ type: 'agent_message', message: 'working' });
    } while (random.chance(0.4));
    if (random.chance(0.1)) continue;
    if (random.chance(0.2)) {
      event({ type: 'turn_aborted', turn_id, reason: 'interrupted' });
      truths.push({ ends: [turn_id], outcome: 'cancelled', inputRefs, text: null });
    } else if (random.chance(0.1)) {
      event({ type: 'task_complete', turn_id, error: { message: 'no' } });
      truths.push({ ends: [turn_id], outcome: 'failed', inputRefs, text: 'no' });
    } else {
      const text = `answer ${turn}`;
      event({ type: 'task_complete', turn_id, last_agent_message: text });
      truths.push({ ends: [turn_id], outcome: 'completed', inputRefs, text });
    }
  }
  return { lines, truths };
}

function ends(lines: readonly object[]): Extract<EngineEvent, { kind: 'turn_ended' }>[] {
  const reader = new CodexRecordReader('thread');
  return lines
    .flatMap((line, index) => reader.read(line, index))
    .filter((event) => event.kind === 'turn_ended');
}

test('a thousand threads as they are written: each end has exactly its inputs', () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const { lines, truths } = thread(randomFrom(seed));
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
    const { lines, truths } = thread(random);
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
