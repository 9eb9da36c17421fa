import type { PastedNote } from '@ostler/controller';
import type { Receipt } from '@ostler/protocol';
import type { DeliveryRecord, DispatchStep } from '@ostler/store';
import { describe, expect, test } from 'vitest';
import { type LeftNote, restoredInputs } from './restored-inputs.js';

const identity = { pid: 7, startTime: '70' };

interface Left {
  readonly ordinal: number;
  readonly steps?: readonly DispatchStep[];
  readonly change?: Partial<Receipt>;
}

function record(
  deliveryId: string,
  { ordinal, change, steps = ['paste_begun'] }: Left,
): DeliveryRecord {
  return {
    receipt: {
      idempotencyKey: deliveryId,
      deliveryId,
      operation: 'turn.send',
      state: 'unknown',
      machineId: 'machine',
      agentId: 'agent',
      serverInstanceId: 'instance',
      turnId: null,
      error: { code: 'DAEMON_RESTART', message: '' },
      at: 0,
      input: { mode: 'direct', phase: 'unconfirmed' },
      ...change,
    },
    ordinal,
    deviceId: 'device',
    textBytes: 1,
    dispatch: { deliveryId, mode: 'direct', fingerprint: 'f', atMs: 1, ...identity },
    steps: steps.map((step) => ({ step, atMs: 2 })),
  };
}

const note = (deliveryId: string, reclaiming = false): PastedNote => ({
  deliveryId,
  text: 'text',
  reclaiming,
});

const ordinals: Readonly<Record<string, number>> = { older: 1, ours: 2, newer: 3 };
const judge = (left: LeftNote, steps?: readonly DispatchStep[]) =>
  restoredInputs(
    [record('ours', { ordinal: 2, ...(steps === undefined ? {} : { steps }) })],
    identity,
    left,
    (deliveryId) => ordinals[deliveryId] ?? null,
  );

describe('what the process before left of its last input', () => {
  test.each<[string, LeftNote]>([
    ['nothing was ever announced', { note: null, writesSince: 4 }],
    ['an older input was announced last', { note: note('older'), writesSince: 4 }],
    ['it was announced and nothing came behind', { note: note('ours'), writesSince: 0 }],
  ])('%s: it was never written', (_, left) => {
    expect(judge(left)).toEqual({ inputs: [], unwritten: ['ours'] });
  });

  test.each<[string, LeftNote]>([
    ['a host that does not count', { note: null, writesSince: null }],
    ['the announced one is forgotten', { note: note('forgotten'), writesSince: 0 }],
  ])('%s: nothing is known of it', (_, left) => {
    expect(judge(left)).toMatchObject({
      inputs: [{ deliveryId: 'ours', text: null, personTyped: true }],
      unwritten: [],
    });
  });

  test('a newer input was announced: this one was over before that', () => {
    const { inputs, unwritten } = judge({ note: note('newer'), writesSince: 2 });
    expect(inputs).toMatchObject([{ deliveryId: 'ours', isOver: true, text: null }]);
    expect(unwritten).toEqual([]);
  });

  test('the writes since tell the paste, the Enter and a person apart', () => {
    const entered = ['paste_begun', 'paste_written', 'enter_begun'] as const;
    const [pasted, both, more] = [1, 2, 3].map(
      (writesSince) => judge({ note: note('ours'), writesSince }, entered).inputs[0],
    );
    expect(pasted).toMatchObject({ enterBegun: false, personTyped: false, text: 'text' });
    expect(both).toMatchObject({ enterBegun: true, personTyped: false });
    expect(more).toMatchObject({ enterBegun: true, personTyped: true });
  });

  test('a text that was being taken back had been seen, and no Enter was pressed on it', () => {
    const judged = [0, 1].map(
      (writesSince) =>
        judge({ note: note('ours', true), writesSince }, ['paste_begun', 'enter_begun']).inputs[0],
    );
    const common = { enterBegun: false, pasteSeen: true, text: 'text' };
    // One write more may be ours or a person's Enter: nothing tells.
    expect(judged).toMatchObject([
      { ...common, personTyped: false },
      { ...common, personTyped: true },
    ]);
  });

  test('it goes on being true for every process that comes later', () => {
    const left: LeftNote = { note: note('ours'), writesSince: 0 };
    const settled = record('ours', {
      ordinal: 2,
      change: { error: { code: 'NOT_CONFIRMED', message: '' } },
    });
    expect(restoredInputs([settled], identity, left, () => null).unwritten).toEqual(['ours']);
  });

  test('an input of another process of the agent, or one that is decided, is none of this', () => {
    const left: LeftNote = { note: note('ours'), writesSince: 0 };
    const other = { pid: 8, startTime: '70' };
    expect(restoredInputs([record('ours', { ordinal: 2 })], other, left, () => null)).toEqual({
      inputs: [],
      unwritten: [],
    });
    const gone = record('ours', {
      ordinal: 2,
      change: { error: { code: 'AGENT_GONE', message: '' } },
    });
    expect(restoredInputs([gone], identity, left, () => null).unwritten).toEqual([]);
  });
});
