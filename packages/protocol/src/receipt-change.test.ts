import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Receipt, ReceiptState } from './receipt.js';
import { applyToReceipt, type ReceiptChange } from './receipt-change.js';
import { isSettled, mayMove, phaseRank, receiptRank } from './receipt-rank.js';

const states: readonly ReceiptState[] = [
  'queued',
  'delivered',
  'started',
  'unknown',
  'completed',
  'rejected',
];

const queued: Receipt = {
  idempotencyKey: 'k',
  deliveryId: 'd',
  operation: 'turn.send',
  state: 'queued',
  machineId: 'm',
  agentId: 'a',
  serverInstanceId: 's',
  turnId: null,
  error: null,
  at: 1,
  input: { mode: 'direct', phase: 'waiting_for_turn' },
};

function apply(receipt: Receipt, ...changes: ReceiptChange[]): Receipt {
  let current = receipt;
  for (const change of changes) {
    const result = applyToReceipt(current, change, current.at + 1);
    if (result.kind === 'refused') throw new Error(`refused: ${result.reason}`);
    current = result.receipt;
  }
  return current;
}

describe('the table of moves', () => {
  const table: Record<ReceiptState, ReceiptState[]> = {
    queued: ['delivered', 'started', 'unknown', 'completed', 'rejected'],
    delivered: ['started', 'completed', 'unknown', 'rejected'],
    started: ['completed', 'unknown'],
    unknown: ['delivered', 'started', 'completed', 'rejected'],
    completed: [],
    rejected: [],
  };

  test.each(states)('from %s', (from) => {
    for (const to of states) expect(mayMove(from, to)).toBe(table[from].includes(to));
  });

  test('a doubt establishes nothing', () => {
    expect(receiptRank('unknown')).toBeLessThan(receiptRank('delivered'));
    expect(states.filter(isSettled)).toEqual(['completed', 'rejected']);
  });
});

describe('applyToReceipt', () => {
  test('follows an input to its end', () => {
    const receipt = apply(
      queued,
      { input: { mode: 'steering', hold: 'permission', phase: 'waiting_for_user' } },
      { state: 'delivered', input: { phase: 'submitted' } },
      { input: { phase: 'accepted', evidence: 'composer_left' } },
      { state: 'started', turnId: 't', input: { phase: 'accepted', evidence: 'record' } },
      { state: 'completed' },
    );
    expect(receipt).toEqual({
      ...queued,
      state: 'completed',
      turnId: 't',
      at: 6,
      input: { mode: 'steering', phase: 'accepted', evidence: 'record' },
    });
  });

  test('a change already there is unchanged, on a final receipt too', () => {
    const done = apply(queued, { state: 'completed', input: { phase: 'accepted' } });
    expect(applyToReceipt(done, { state: 'completed', input: { phase: 'accepted' } }, 9)).toEqual({
      kind: 'unchanged',
      receipt: done,
    });
    expect(applyToReceipt(done, { state: 'unknown' }, 9)).toEqual({
      kind: 'refused',
      reason: 'final',
    });
  });

  test('weaker evidence of the same phase leaves the stronger', () => {
    const receipt = apply(queued, { input: { phase: 'accepted', evidence: 'record' } });
    const late = { input: { phase: 'accepted', evidence: 'composer_left' } } as const;
    expect(applyToReceipt(receipt, late, 9).kind).toBe('unchanged');
  });

  test('late evidence raises a doubt and takes its error away', () => {
    const doubt = apply(queued, {
      state: 'unknown',
      error: { code: 'NOT_CONFIRMED', message: 'x' },
      input: { phase: 'unconfirmed' },
    });
    expect(apply(doubt, { state: 'started', turnId: 't' }).error).toBeNull();
  });

  test.each<[string, Receipt, ReceiptChange]>([
    ['phase', apply(queued, { input: { phase: 'accepted' } }), { input: { phase: 'unconfirmed' } }],
    ['mode', apply(queued, { state: 'delivered' }), { input: { mode: 'steering' } }],
    ['mode', apply(queued, { input: { phase: 'submitted' } }), { input: { mode: 'steering' } }],
    ['turn', apply(queued, { state: 'started', turnId: 't' }), { turnId: 'other' }],
    ['state', apply(queued, { state: 'started', turnId: 't' }), { state: 'rejected' }],
    [
      'state',
      apply(queued, { state: 'started', turnId: 't' }, { state: 'unknown' }),
      { state: 'delivered' },
    ],
    [
      'contradiction',
      queued,
      { state: 'completed', error: { code: 'INTERNAL', message: 'failed' } },
    ],
  ])('refuses by %s', (reason, receipt, change) => {
    expect(applyToReceipt(receipt, change, 9)).toEqual({ kind: 'refused', reason });
  });

  test('an input needs both mode and phase', () => {
    const { input: _input, ...bare } = queued;
    expect(applyToReceipt(bare, { input: { phase: 'submitted' } }, 2)).toEqual({
      kind: 'refused',
      reason: 'contradiction',
    });
  });

  test('no sequence of changes moves a receipt down', () => {
    const change = fc.record(
      {
        state: fc.constantFrom(...states),
        turnId: fc.constantFrom('t1', 't2'),
        input: fc.record(
          {
            mode: fc.constantFrom('direct', 'steering', 'native_queue'),
            phase: fc.constantFrom(
              'waiting_for_writer',
              'waiting_for_user',
              'submitted',
              'accepted',
              'unconfirmed',
            ),
            evidence: fc.constantFrom('composer_left', 'hook', 'record'),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        let receipt = queued;
        let started = false;
        for (const next of changes) {
          const result = applyToReceipt(receipt, next as ReceiptChange, receipt.at + 1);
          if (result.kind !== 'applied') continue;
          const { state, input, turnId } = result.receipt;
          if (state !== receipt.state) expect(mayMove(receipt.state, state)).toBe(true);
          expect(phaseRank(input?.phase ?? 'accepted')).toBeGreaterThanOrEqual(
            phaseRank(receipt.input?.phase ?? 'waiting_for_turn'),
          );
          if (started) expect(['started', 'unknown', 'completed']).toContain(state);
          if (receipt.turnId !== null) expect(turnId).toBe(receipt.turnId);
          started ||= turnId !== null;
          receipt = result.receipt;
        }
      }),
      { numRuns: 300 },
    );
  });
});
