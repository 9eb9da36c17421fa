import type { Receipt } from '@ostler/protocol';
import { VirtualClock } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { agentSize, type DemoScene, isWide, layOut } from './layout.js';
import { ReceiptLog } from './receipt-log.js';
import { summaryLines } from './summary.js';

function receipt(change: Partial<Receipt>): Receipt {
  return {
    idempotencyKey: 'demo-a',
    deliveryId: 'delivery-1',
    operation: 'turn.send',
    state: 'queued',
    machineId: 'm',
    agentId: 'a',
    serverInstanceId: 's',
    turnId: null,
    error: null,
    at: 0,
    ...change,
  };
}

function filled(): { log: ReceiptLog; clock: VirtualClock } {
  const clock = new VirtualClock();
  const log = new ReceiptLog(clock);
  log.sending('demo-a', 'text');
  log.note(receipt({ input: { mode: 'direct', phase: 'waiting_for_user', hold: 'permission' } }));
  clock.advance(1_250);
  log.note(
    receipt({
      state: 'delivered',
      input: { mode: 'direct', phase: 'accepted', evidence: 'composer_left' },
    }),
  );
  return { log, clock };
}

describe('receipt log', () => {
  test('it keeps each new state with the time since the text was sent', () => {
    const { log } = filled();
    expect(log.note(receipt({ idempotencyKey: 'other' }))).toBeNull();
    const again = receipt({
      state: 'delivered',
      input: { mode: 'direct', phase: 'accepted', evidence: 'composer_left' },
    });
    expect(log.note(again)).toBeNull();
    expect(log.receipts()[0]?.history).toEqual([
      { state: 'queued', mode: 'direct', phase: 'waiting_for_user', hold: 'permission', atMs: 0 },
      {
        state: 'delivered',
        mode: 'direct',
        phase: 'accepted',
        evidence: 'composer_left',
        atMs: 1_250,
      },
    ]);
  });
});

describe('picture', () => {
  const agentRows = Array.from({ length: 40 }, (_, row) => `agent row ${row} ${'x'.repeat(200)}`);
  function scene(cols: number, rows: number): DemoScene {
    const size = agentSize(cols, rows);
    return {
      cols,
      rows,
      title: 'ostler demo',
      step: 'A long task is sent.',
      receipts: filled().log.receipts(),
      agentRows: agentRows.slice(0, size.rows),
      ageMs: () => 0,
    };
  }

  test.each([
    [80, 24],
    [100, 30],
    [140, 40],
    [60, 20],
  ])('it fits %i × %i and shows the receipt and the agent', (cols, rows) => {
    const lines = layOut(scene(cols, rows)).map((line) => line.map((part) => part.text).join(''));
    expect(lines.length).toBeLessThanOrEqual(rows);
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(cols);
    const text = lines.join('\n');
    expect(text).toMatch(/demo-a +direct +accepted/);
    expect(text).toContain('agent row 0');
  });

  test('wide terminals show both side by side, narrow ones stack them', () => {
    expect(isWide(80)).toBe(false);
    expect(isWide(140)).toBe(true);
    expect(agentSize(80, 24)).toEqual({ cols: 80, rows: 14 });
    expect(agentSize(140, 40).rows).toBe(37);
  });
});

test('the summary tells the receipts, what the model was given, and the failures', () => {
  const lines = summaryLines({
    engine: 'simulated',
    version: '1.0.0',
    receipts: filled().log.receipts(),
    modelReceived: [{ text: 'text', count: 2 }],
    steps: [],
    claims: { agree: false, failed: ['demo-a: accepted, but the model received it 2 times'] },
  });
  expect(lines.join('\n')).toContain('by composer_left');
  expect(lines).toContain('  2 × "text"');
  expect(lines.at(-1)).toBe('Claim failed: demo-a: accepted, but the model received it 2 times');
});
