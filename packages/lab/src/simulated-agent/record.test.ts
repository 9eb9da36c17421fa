import { VirtualClock } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { parseScript } from './parse-script.js';
import { RecordWriter } from './record-writer.js';
import type { RecordOptions, ScriptInput } from './script.js';
import { SimulatedSession } from './simulated-session.js';

function writer(options: Partial<RecordOptions>): {
  clock: VirtualClock;
  record: RecordWriter;
  files: Map<string, string>;
} {
  const clock = new VirtualClock();
  const files = new Map<string, string>();
  const append = (path: string, data: string): void =>
    void files.set(path, (files.get(path) ?? '') + data);
  const all = parseScript({ record: options }).record;
  return { clock, files, record: new RecordWriter(all, '/r.jsonl', clock, { append }) };
}

function kinds(text: string | undefined): string[] {
  return (text ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { type: string }).type);
}

describe('record writer', () => {
  test('late lines come after their delay', () => {
    const { clock, record, files } = writer({ delayMs: 500 });
    record.write({ type: 'accepted', at: 1 });
    clock.advance(499);
    expect(files.size).toBe(0);
    clock.advance(1);
    expect(kinds(files.get('/r.jsonl'))).toEqual(['accepted']);
  });

  test('left-out kinds never come, and nothing at all when it does not write', () => {
    const some = writer({ omit: ['accepted'] });
    some.record.write({ type: 'accepted', at: 1 });
    some.record.write({ type: 'consumed', at: 2 });
    expect(kinds(some.files.get('/r.jsonl'))).toEqual(['consumed']);
    const none = writer({ write: false });
    none.record.write({ type: 'consumed', at: 2 });
    none.record.rotate();
    expect(none.files.size).toBe(0);
  });

  test('out of order: pairs are written last first, a single one at the end', () => {
    const { record, files } = writer({ outOfOrder: true });
    record.write({ type: 'accepted', at: 1 });
    record.write({ type: 'turn_started', at: 2 });
    record.write({ type: 'consumed', at: 3 });
    record.flush();
    expect(kinds(files.get('/r.jsonl'))).toEqual(['turn_started', 'accepted', 'consumed']);
  });

  test('split lines are whole in the end and never mixed', () => {
    const { clock, record, files } = writer({ splitMs: 100 });
    record.write({ type: 'accepted', at: 1 });
    record.write({ type: 'consumed', at: 2 });
    expect(files.get('/r.jsonl')).not.toContain('\n');
    clock.advance(100);
    expect(files.get('/r.jsonl')?.split('\n')).toHaveLength(2);
    clock.advance(100);
    expect(kinds(files.get('/r.jsonl'))).toEqual(['accepted', 'consumed']);
  });

  test('it rotates after so many lines and leaves a pointer', () => {
    const { record, files } = writer({ rotateAfter: 2 });
    for (let at = 0; at < 3; at += 1) record.write({ type: 'accepted', at });
    expect(kinds(files.get('/r.jsonl'))).toEqual(['accepted', 'accepted', 'rotated']);
    expect(kinds(files.get('/r.2.jsonl'))).toEqual(['accepted']);
  });
});

describe('record and observer', () => {
  async function run(script: ScriptInput): Promise<SimulatedSession> {
    const session = await SimulatedSession.open(script);
    await session.ready();
    session.type('A\r');
    await session.until(() => session.events.some((event) => event.kind === 'turn_ended'));
    return session;
  }

  test('a prompt is accepted, consumed and its turn ended, tied by ids', async () => {
    await using session = await run({ turns: [{ forMs: 10, answer: 'fine' }] });
    const [accepted, started, consumed, ended] = session.events;
    expect(accepted).toMatchObject({ kind: 'input_accepted', text: 'A', inputRef: 'input-1' });
    expect(started).toMatchObject({ kind: 'turn_started', turnRef: 'turn-1' });
    expect(consumed).toMatchObject({ kind: 'input_consumed', text: 'A', inputRef: 'input-1' });
    expect(ended).toMatchObject({
      kind: 'turn_ended',
      outcome: 'completed',
      inputRefs: ['input-1'],
      finalText: 'fine',
    });
    expect(session.plan.version).toBe('1.0.0+steering');
    expect(session.reader.busyMode).toBe('steering');
  });

  test('partial, late and out of order lines all arrive', async () => {
    await using session = await run({
      turns: [{ forMs: 10 }],
      record: { splitMs: 5, delayMs: 20, outOfOrder: true, omit: ['session'] },
    });
    await session.until(() => session.events.length === 4);
    expect(session.events.map((event) => event.kind)).toEqual([
      'turn_started',
      'input_accepted',
      'turn_ended',
      'input_consumed',
    ]);
  });

  test('the observer follows a rotation', async () => {
    await using session = await run({ turns: [{ forMs: 10 }], record: { rotateAfter: 2 } });
    const seen = session.events.map((event) => event.kind);
    expect(seen).toContain('record_rotated');
    expect(seen).toContain('input_consumed');
  });

  test('a queue given back is withdrawn', async () => {
    await using session = await SimulatedSession.open({
      busyRule: 'native_queue',
      turns: [{ until: 'go' }],
    });
    await session.ready();
    session.type('A\r');
    session.type('B\r');
    await session.until((reading) => reading.queue.length === 1);
    session.type('\u001b[A');
    await session.until(() => session.events.some((event) => event.kind === 'input_withdrawn'));
  });
});
