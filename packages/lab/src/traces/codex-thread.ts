import type { Random, Trace, Truth } from './damage.js';

/** A thread as Codex writes it, and which end closes which inputs. */
export function codexThread(random: Random): Trace {
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
