import type { Receipt } from '@ostler/protocol';
import { expect, test } from 'vitest';
import { exitCodeOfReceipt } from './receipt-view.js';

const receipt = (state: Receipt['state'], phase: 'submitted' | 'accepted'): Receipt => ({
  idempotencyKey: 'key',
  deliveryId: 'delivery',
  operation: 'turn.send',
  state,
  machineId: 'machine',
  agentId: 'agent',
  serverInstanceId: 'instance',
  turnId: null,
  error: null,
  at: 0,
  input: { mode: 'direct', phase },
});

test.each([
  ['completed', 'accepted', 'reached', 0],
  ['rejected', 'submitted', 'reached', 1],
  ['delivered', 'submitted', 'timeout', 4],
  ['unknown', 'submitted', 'timeout', 5],
  ['unknown', 'submitted', 'reached', 5],
  // Accepted is what was waited for; the outcome alone is in doubt.
  ['unknown', 'accepted', 'reached', 0],
  ['unknown', 'accepted', 'timeout', 5],
  ['unknown', 'accepted', undefined, 5],
  ['queued', 'submitted', undefined, 0],
] as const)('%s and %s, the wait %s: exit code %i', (state, phase, waitEnded, code) => {
  expect(exitCodeOfReceipt(receipt(state, phase), waitEnded)).toBe(code);
});
