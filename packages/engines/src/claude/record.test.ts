import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '../engine-event.js';
import { ClaudeRecord } from './record.js';

/** Told in one line: what a person would read off the transcript. */
function tell(event: EngineEvent, names: Map<string, string>): string {
  const name = (ref: string | null): string => names.get(ref ?? '') ?? String(ref);
  if (event.kind === 'input_consumed' && event.inputRef !== null) {
    names.set(event.inputRef, `${event.text}#${names.size + 1}`);
  }
  if (event.kind === 'input_consumed') return `consumed ${name(event.inputRef)}`;
  if (event.kind === 'input_accepted') return `accepted ${event.text}`;
  if (event.kind === 'input_withdrawn') return `withdrawn ${event.text}`;
  if (event.kind === 'turn_text') return `said ${event.text}`;
  if (event.kind === 'turn_tool') return `tool ${event.state}`;
  if (event.kind !== 'turn_ended') return event.kind;
  return `${event.outcome} [${event.inputRefs.map(name).join(', ')}] ${event.finalText}`;
}

function replay(version: string): string[] {
  const path = new URL(
    `../../../../fixtures/claude/${version}/queue-and-interrupts.jsonl`,
    import.meta.url,
  );
  const record = new ClaudeRecord();
  const names = new Map<string, string>();
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => record.take(JSON.parse(line)))
    .map((event) => tell(event, names))
    .filter((line) => !/^(said|tool) /.test(line));
}

describe.each(['2.1.280', '2.1.328'])('a transcript of claude %s', (version) => {
  test('names each turn, its inputs and its end', () => {
    expect(replay(version)).toEqual([
      'turn_started',
      'consumed hello#1',
      'completed [hello#1] Done.',
      'turn_started',
      'consumed think please#2',
      'accepted q1',
      'accepted q1',
      'completed [think please#2] Thought.',
      'turn_started',
      'consumed q1#3',
      'consumed q1#4',
      'completed [q1#3, q1#4] Done.Done.',
      'turn_started',
      'consumed run tool#5',
      'accepted t1',
      'accepted t1',
      'consumed t1#6',
      'consumed t1#7',
      'completed [run tool#5, t1#6, t1#7] tool overDone.Done.',
      'turn_started',
      'consumed a\nb\nc\nd\ne#8',
      'completed [a\nb\nc\nd\ne#8] Done.',
      'turn_started',
      'consumed long one#9',
      'accepted q2',
      'cancelled [long one#9] null',
      'turn_started',
      'consumed q2#10',
      // Interrupted before any answer: told by the next prompt's parent.
      'cancelled [q2#10] null',
      'turn_started',
      'consumed long two#11',
      'accepted q3',
      'accepted q4',
      'withdrawn q3',
      'withdrawn q4',
      'cancelled [long two#11] null',
      'turn_started',
      'consumed perm#12',
      'cancelled [perm#12] null',
      'turn_started',
      'consumed fail#13',
      'accepted /clear',
      'accepted after clear',
    ]);
  });
});

const user = (uuid: string, parentUuid: string | null, text: string): object => ({
  type: 'user',
  uuid,
  parentUuid,
  timestamp: '2026-11-30T22:00:00.000Z',
  origin: { kind: 'human' },
  message: { role: 'user', content: text },
});
const answer = (uuid: string, parentUuid: string, text: string, id = 'm1'): object => ({
  type: 'assistant',
  uuid,
  parentUuid,
  timestamp: '2026-11-30T22:00:01.000Z',
  message: { id, role: 'assistant', stop_reason: 'end_turn', content: [{ type: 'text', text }] },
});
const duration = (uuid: string, parentUuid: string): object => ({
  type: 'system',
  subtype: 'turn_duration',
  uuid,
  parentUuid,
});

describe('turns', () => {
  test('an answer of two blocks ends once, with both', () => {
    const record = new ClaudeRecord();
    const events = [
      user('u1', null, 'hi'),
      answer('a1', 'u1', 'One. '),
      answer('a2', 'a1', 'Two.'),
      duration('d1', 'a2'),
    ].flatMap((line) => record.take(line));
    expect(events.filter((event) => event.kind === 'turn_ended')).toEqual([
      expect.objectContaining({ outcome: 'completed', inputRefs: ['u1'], finalText: 'One. Two.' }),
    ]);
  });

  test.each(['', ' \n\t'])('an end whose answer is %j ties nothing', (words) => {
    const record = new ClaudeRecord();
    const events = [
      user('u1', null, 'hi'),
      answer('a1', 'u1', words),
      duration('d1', 'a1'),
    ].flatMap((line) => record.take(line));
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'turn_ended', outcome: 'completed', inputRefs: [] }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'inputs_untied', inputRefs: ['u1'] }),
    );
  });

  test('an end whose chain is written later waits for it', () => {
    const record = new ClaudeRecord();
    record.take(user('u1', null, 'hi'));
    record.take(answer('a1', 'x1', 'Yes.'));
    expect(record.take({ type: 'last-prompt' })).toEqual([]);
    expect(record.take(duration('d1', 'a1'))).toEqual([]);
    const events = record.take({ type: 'attachment', uuid: 'x1', parentUuid: 'u1' });
    expect(events).toEqual([
      expect.objectContaining({ kind: 'turn_ended', inputRefs: ['u1'], finalText: 'Yes.' }),
    ]);
  });

  test('an API error fails the turn at once', () => {
    const record = new ClaudeRecord();
    record.take(user('u1', null, 'hi'));
    const failed = { ...answer('a1', 'u1', 'API Error: 400'), isApiErrorMessage: true };
    expect(record.take(failed)).toContainEqual(
      expect.objectContaining({
        outcome: 'failed',
        inputRefs: ['u1'],
        finalText: 'API Error: 400',
        endRef: 'a1',
      }),
    );
  });

  test('side chains, meta entries, peers and tool results are no inputs', () => {
    const record = new ClaudeRecord();
    const events = [
      { ...user('u1', null, 'task of a subagent'), isSidechain: true },
      { ...user('u2', null, 'caveat'), isMeta: true },
      { ...user('u3', null, 'from a peer'), origin: { kind: 'peer' } },
      { ...user('u4', null, ''), message: { content: [{ type: 'tool_result' }] } },
      'no entry at all',
      null,
    ].flatMap((line) => record.take(line));
    expect(events).toEqual([]);
  });

  test('lines that come again after a rewrite give no event', () => {
    const record = new ClaudeRecord();
    const lines = [
      user('u1', null, 'hi'),
      {
        type: 'queue-operation',
        operation: 'enqueue',
        content: 'later',
        timestamp: '2026-11-30T22:00:02.000Z',
      },
    ];
    expect(lines.flatMap((line) => record.take(line))).toHaveLength(3);
    record.reset();
    expect(lines.flatMap((line) => record.take(line))).toEqual([]);
  });

  test('a prompt whose words are an interruption is an input', () => {
    const record = new ClaudeRecord();
    const events = record.take(user('u1', null, '[Request interrupted by user]'));
    expect(events.map((event) => event.kind)).toEqual(['turn_started', 'input_consumed']);
  });
});
