import type { Receipt, ReceiptState } from '@ostler/protocol';
import { describe, expect, test } from 'vitest';
import { keysAtTurnEnd } from './keys-at-turn-end.js';

const outcomes = ['completed', 'failed', 'cancelled'] as const;

function receipt(operation: Receipt['operation'], state: ReceiptState): Receipt {
  return {
    idempotencyKey: 'k',
    deliveryId: 'd',
    operation,
    state,
    machineId: 'm',
    agentId: 'a',
    serverInstanceId: 's',
    turnId: null,
    error: null,
    at: 0,
  };
}

describe('the end of the turn that keys went into', () => {
  test.each(outcomes)('says nothing of a message: %s', (outcome) => {
    expect(keysAtTurnEnd(receipt('turn.send', 'delivered'), { outcome })).toBeNull();
  });

  test.each(outcomes)('completes a stop that was seen to stop: %s', (outcome) => {
    expect(keysAtTurnEnd(receipt('turn.stop', 'delivered'), { outcome })).toEqual({
      state: 'completed',
    });
  });

  test('completes a stop in doubt only where the record says that the turn was cut off', () => {
    const inDoubt = receipt('turn.stop', 'unknown');
    expect(outcomes.map((outcome) => keysAtTurnEnd(inDoubt, { outcome }))).toEqual([
      null,
      null,
      { state: 'completed' },
    ]);
  });

  test('completes an answer that was seen to answer, and no other', () => {
    const answered = receipt('question.answer', 'delivered');
    expect(outcomes.map((outcome) => keysAtTurnEnd(answered, { outcome }))).toMatchObject([
      { state: 'completed' },
      { state: 'unknown', error: { code: 'RESULT_NOT_COMPLETED' } },
      { state: 'unknown', error: { code: 'TURN_INTERRUPTED' } },
    ]);
    for (const outcome of outcomes) {
      expect(keysAtTurnEnd(receipt('question.answer', 'unknown'), { outcome })).toBeNull();
    }
  });
});
