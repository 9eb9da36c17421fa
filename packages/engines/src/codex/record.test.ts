import { expect, test } from 'vitest';
import type { EngineEvent } from '../engine-event.js';
import { CodexRecordReader, readRecordOwner } from './record.js';

const at = '2026-11-30T12:00:00.000Z';
const atMs = Date.parse(at);
const event = (payload: object): object => ({ timestamp: at, type: 'event_msg', payload });
const prompt = (id: string, text: string, turn: string): object =>
  event({
    type: 'item_completed',
    turn_id: turn,
    item: { type: 'UserMessage', id, client_id: 'c', content: [{ type: 'text', text }] },
  });

function all(...lines: unknown[]): EngineEvent[] {
  const reader = new CodexRecordReader();
  return lines.flatMap((line, index) => reader.read(line, index * 100));
}

test('a turn with a steered input: both are members of its end', () => {
  expect(
    all(
      event({ type: 'task_started', turn_id: 't1' }),
      prompt('i1', 'A', 't1'),
      prompt('i2', 'B', 't1'),
      event({ type: 'task_complete', turn_id: 't1', last_agent_message: 'done' }),
    ),
  ).toEqual([
    { kind: 'turn_started', turnRef: 't1', atMs },
    { kind: 'input_consumed', text: 'A', evidence: 'record', inputRef: 'i1', turnRef: 't1', atMs },
    { kind: 'input_consumed', text: 'B', evidence: 'record', inputRef: 'i2', turnRef: 't1', atMs },
    {
      kind: 'turn_ended',
      turnRef: 't1',
      outcome: 'completed',
      inputRefs: ['i1', 'i2'],
      tie: 'record',
      endRef: 't1',
      finalText: 'done',
      atMs,
    },
  ]);
});

test('aborted is cancelled, an error is failed', () => {
  const ends = all(
    event({ type: 'task_started', turn_id: 't1' }),
    event({ type: 'turn_aborted', turn_id: 't1', reason: 'interrupted' }),
    event({ type: 'task_started', turn_id: 't2' }),
    prompt('i1', 'A', 't2'),
    event({
      type: 'task_complete',
      turn_id: 't2',
      last_agent_message: null,
      error: { message: 'no' },
    }),
  ).filter((each) => each.kind === 'turn_ended');
  expect(ends).toMatchObject([
    { turnRef: 't1', outcome: 'cancelled', inputRefs: [] },
    { turnRef: 't2', outcome: 'failed', inputRefs: ['i1'] },
  ]);
});

test('the older form, without ids', () => {
  expect(
    all(
      event({ type: 'task_started' }),
      event({ type: 'user_message', message: 'A', kind: 'plain' }),
      event({ type: 'task_complete', last_agent_message: 'ok' }),
    ),
  ).toMatchObject([
    { kind: 'turn_started', turnRef: null },
    { kind: 'input_consumed', text: 'A', inputRef: 'line:100', turnRef: null },
    { kind: 'turn_ended', inputRefs: ['line:100'], tie: 'order', endRef: null, finalText: 'ok' },
  ]);
});

test('the older form in a turn that has an id: tied by its place alone', () => {
  const end = all(
    event({ type: 'task_started', turn_id: 't1' }),
    event({ type: 'user_message', message: 'A' }),
    event({ type: 'task_complete', turn_id: 't1', last_agent_message: 'ok' }),
  ).at(-1);
  expect(end).toMatchObject({ kind: 'turn_ended', inputRefs: ['line:100'], tie: 'order' });
});

test.each([null, '', ' \n\t'])('an end whose answer is %j ties nothing', (words) => {
  const events = all(
    event({ type: 'task_started', turn_id: 't1' }),
    prompt('i1', 'A', 't1'),
    event({ type: 'task_complete', turn_id: 't1', last_agent_message: words }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({ kind: 'turn_ended', outcome: 'completed', inputRefs: [] }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({ kind: 'inputs_untied', inputRefs: ['i1'] }),
  );
});

test('an end without an answer ties nothing, nor does a turn that never ends', () => {
  const events = all(
    event({ type: 'task_started', turn_id: 't1' }),
    prompt('i1', 'A', 't1'),
    event({ type: 'task_complete', turn_id: 't1', last_agent_message: null }),
    event({ type: 'task_started', turn_id: 't2' }),
    prompt('i2', 'B', 't2'),
    event({ type: 'task_started', turn_id: 't3' }),
    prompt('i3', 'C', 't1'),
  ).filter((each) => each.kind === 'turn_ended' || each.kind === 'inputs_untied');
  expect(events).toMatchObject([
    { kind: 'turn_ended', outcome: 'completed', inputRefs: [] },
    { kind: 'inputs_untied', inputRefs: ['i1'] },
    { kind: 'inputs_untied', inputRefs: ['i2'] },
    { kind: 'inputs_untied', inputRefs: ['i3'] },
  ]);
});

test('what a turn said before it failed or was cut off, and the tools it used', () => {
  const said = (text: string): object =>
    event({
      type: 'item_completed',
      turn_id: 't1',
      item: { type: 'AgentMessage', id: 'm', content: [{ type: 'Text', text }] },
    });
  const call = (payload: object): object => ({ timestamp: at, type: 'response_item', payload });
  expect(
    all(
      event({ type: 'task_started', turn_id: 't1' }),
      prompt('i1', 'A', 't1'),
      said('One.'),
      call({ type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{}' }),
      call({ type: 'function_call_output', call_id: 'c1', output: '' }),
      event({ type: 'turn_aborted', turn_id: 't1', reason: 'interrupted' }),
    ).slice(2),
  ).toMatchObject([
    { kind: 'turn_text', turnRef: 't1', text: 'One.' },
    { kind: 'turn_tool', toolId: 'c1', name: 'exec_command', state: 'begun' },
    { kind: 'turn_tool', toolId: 'c1', name: null, state: 'ended' },
    { kind: 'turn_ended', outcome: 'cancelled', inputRefs: ['i1'], finalText: 'One.' },
  ]);
});

test('a file that has both forms counts a prompt once', () => {
  const consumed = all(
    event({ type: 'task_started', turn_id: 't1' }),
    event({ type: 'user_message', message: 'A' }),
    prompt('i1', 'A', 't1'),
    event({ type: 'user_message', message: 'B' }),
    prompt('i2', 'B', 't1'),
  ).filter((each) => each.kind === 'input_consumed');
  expect(consumed).toMatchObject([{ text: 'A' }, { text: 'B' }]);
});

test('a prompt of another turn is no member of this one', () => {
  const end = all(
    event({ type: 'task_started', turn_id: 't1' }),
    prompt('i1', 'A', 't0'),
    event({ type: 'task_complete', turn_id: 't1', last_agent_message: 'x' }),
  ).at(-1);
  expect(end).toMatchObject({ kind: 'turn_ended', inputRefs: [] });
});

test('what is no event is nothing', () => {
  expect(
    all(
      null,
      3,
      {},
      { timestamp: 'never', type: 'event_msg', payload: { type: 'task_started' } },
      {
        timestamp: at,
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [] },
      },
    ),
  ).toEqual([]);
});

test('a thread the engine made for itself is not the person’s', () => {
  const meta = (thread_source?: string): unknown => ({
    timestamp: at,
    type: 'session_meta',
    payload: { id: 'x', cwd: '/p', thread_source },
  });
  expect(readRecordOwner(meta('user'))).toMatchObject({ threadId: 'x', isUsers: true });
  expect(readRecordOwner(meta())).toMatchObject({ isUsers: true });
  expect(readRecordOwner(meta('subagent'))).toMatchObject({ isUsers: false });
  expect(readRecordOwner(event({ type: 'task_started' }))).toBeNull();
});
