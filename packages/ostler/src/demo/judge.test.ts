import { describe, expect, test } from 'vitest';
import type { ReportedReceipt } from './demo-report.js';
import { failedClaims } from './judge.js';

function receipt(
  text: string,
  state: ReportedReceipt['state'],
  phase?: 'accepted' | 'unconfirmed' | 'waiting_for_user',
): ReportedReceipt {
  return {
    idempotencyKey: `demo-${text}`,
    deliveryId: text,
    text,
    sentAtMs: 0,
    state,
    error: null,
    input: phase ? { mode: 'direct', phase } : null,
    history: [],
  };
}

function failures(
  receipts: ReportedReceipt[],
  counts: Readonly<Record<string, number>>,
  strayAnswers = 0,
): string[] {
  const modelReceived = Object.entries(counts).map(([text, count]) => ({ text, count }));
  return failedClaims({ receipts, modelReceived, strayAnswers });
}

describe('claims held against the model', () => {
  test('what was claimed taken was received exactly once', () => {
    for (const state of ['started', 'completed'] as const) {
      expect(failures([receipt('A', state)], { A: 1 })).toEqual([]);
      expect(failures([receipt('A', state)], {})).toHaveLength(1);
      expect(failures([receipt('A', state)], { A: 2 })).toHaveLength(1);
    }
    expect(failures([receipt('A', 'delivered', 'accepted')], {})).toEqual([
      'demo-A: accepted, but the model received it 0 times',
    ]);
    expect(failures([receipt('A', 'unknown', 'accepted')], { A: 1 })).toEqual([]);
  });

  test('rejected and queued were never received, doubt at most once', () => {
    expect(failures([receipt('A', 'rejected')], {})).toEqual([]);
    expect(failures([receipt('A', 'rejected')], { A: 1 })).toHaveLength(1);
    expect(failures([receipt('A', 'queued', 'waiting_for_user')], { A: 1 })).toHaveLength(1);
    expect(failures([receipt('A', 'unknown', 'unconfirmed')], {})).toEqual([]);
    expect(failures([receipt('A', 'unknown', 'unconfirmed')], { A: 1 })).toEqual([]);
    expect(failures([receipt('A', 'unknown', 'unconfirmed')], { A: 2 })).toHaveLength(1);
  });

  test('merged texts, strangers and dialogs we answered are failures', () => {
    const both = [receipt('one', 'completed'), receipt('two', 'completed')];
    expect(failures(both, { 'one\ntwo': 1 })).toContain(
      'demo-one and demo-two: the model received it joined with other text',
    );
    expect(failures(both, { one: 1, two: 1, three: 1 })).toHaveLength(1);
    expect(failures(both, { one: 1, two: 1 }, 1)).toEqual([
      'a dialog was answered by our keys once',
    ]);
  });

  test('line ends and blanks around a text do not matter', () => {
    expect(failures([receipt('a\r\nb ', 'completed')], { 'a\nb': 1 })).toEqual([]);
  });
});
