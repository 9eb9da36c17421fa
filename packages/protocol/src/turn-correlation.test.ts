import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type JsonValue } from './canonical-json.js';
import { eventSchema } from './event-schemas.js';
import { jsonSchemas } from './json-schema.js';
import type { Receipt } from './receipt.js';
import { receiptSchema } from './receipt-schema.js';
import {
  correlationOf,
  maxTurnResultBytes,
  type TurnResult,
  turnResultSchema,
} from './turn-correlation.js';

const directory = new URL('../../../fixtures/turn-correlation-v2/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, directory), 'utf8');

interface Line {
  readonly from: 'client' | 'server';
  readonly frame: Readonly<Record<string, unknown>>;
}

const streams = readdirSync(directory)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => name.slice(0, -'.jsonl'.length));

test('the JSON Schema for other languages is the one of this package', () => {
  expect(JSON.parse(read('turn-result.schema.json'))).toEqual(jsonSchemas()['event/turn.result']);
});

/** What the README asks of a receiver, in the shortest form. */
function receive(lines: readonly Line[]): Record<string, unknown> {
  const own = new Map<string, Receipt>();
  const stored = new Map<string, TurnResult>();
  const effects: object[] = [];
  lines.forEach(({ from, frame }, index) => {
    if (from === 'server' && frame['type'] === 'turn.send_result') {
      const receipt = receiptSchema.parse(frame['receipt']);
      own.set(receipt.idempotencyKey, receipt);
    }
    if (frame['type'] !== 'event') return;
    const event = eventSchema.parse(frame);
    if (event.kind !== 'turn.result') return;
    const told = (effect: string, reason?: string): void => {
      effects.push({ line: index + 1, effect, ...(reason === undefined ? {} : { reason }) });
    };
    const parsed = turnResultSchema.safeParse(event.payload);
    if (!parsed.success) return told('refused', 'malformed');
    const result = parsed.data;
    for (const { deliveryId, idempotencyKey } of result.correlation.inputs) {
      const receipt = own.get(idempotencyKey);
      if (!receipt) return told('refused', 'unknown_key');
      if (receipt.deliveryId !== deliveryId) return told('refused', 'other_delivery');
      if (receipt.serverInstanceId !== result.serverInstanceId) {
        return told('refused', 'other_instance');
      }
      if (receipt.agentId !== event.agentId) return told('refused', 'other_agent');
    }
    const id = `${result.serverInstanceId} ${result.resultId}`;
    const before = stored.get(id);
    if (!before) {
      stored.set(id, result);
      return told('stored');
    }
    const same = [before, result].map((each) => canonicalJson(each as unknown as JsonValue));
    return same[0] === same[1] ? told('already_stored') : told('protocol_error', 'other_content');
  });
  const results = [...stored.values()];
  const keysOf = ({ correlation }: TurnResult): readonly string[] =>
    correlation.inputs.map(({ idempotencyKey }) => idempotencyKey);
  const answered = results.flatMap(keysOf);
  return {
    effects,
    stored: results.map((result) => ({
      serverInstanceId: result.serverInstanceId,
      resultId: result.resultId,
      outcome: result.outcome,
      idempotencyKeys: keysOf(result),
    })),
    utterances: results.map(({ resultId, fullText }) => ({ resultId, fullText })),
    unanswered: [...own.keys()].filter((key) => !answered.includes(key)),
  };
}

describe('the streams', () => {
  test.each(streams)('%s has the expected effect', (name) => {
    const lines = read(`${name}.jsonl`)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    const { why, stream, ...expected } = JSON.parse(read(`${name}.expected.json`)) as Record<
      string,
      unknown
    >;
    expect(stream).toBe(`${name}.jsonl`);
    expect(why).toEqual(expect.any(String));
    expect(receive(lines)).toEqual(expected);
  });

  test('all of them are here', () => {
    expect(streams.sort()).toEqual(
      [
        'conflict',
        'group',
        'malformed',
        'replay',
        'resync',
        'single',
        'subset',
        'wrong-owner',
      ].sort(),
    );
  });
});

test('a result as large as allowed, and one byte more', () => {
  const result = (text: string): TurnResult => ({
    serverInstanceId: 's',
    resultId: 'r',
    correlation: correlationOf([{ deliveryId: 'd', idempotencyKey: 'k' }]),
    outcome: 'completed',
    fullText: text,
  });
  const room = maxTurnResultBytes - JSON.stringify(result('')).length;
  expect(turnResultSchema.safeParse(result('x'.repeat(room))).success).toBe(true);
  expect(turnResultSchema.safeParse(result('x'.repeat(room + 1))).success).toBe(false);
});

test('the size counts bytes of UTF-8, not characters', () => {
  const result = (text: string): TurnResult => ({
    serverInstanceId: 's',
    resultId: 'r',
    correlation: correlationOf([{ deliveryId: 'd', idempotencyKey: 'k' }]),
    outcome: 'completed',
    fullText: text,
  });
  const room = maxTurnResultBytes - JSON.stringify(result('')).length;
  for (const character of ['é', '語', '😀']) {
    const bytes = Buffer.byteLength(character);
    const full = character.repeat(Math.floor(room / bytes)) + 'x'.repeat(room % bytes);
    expect(turnResultSchema.safeParse(result(full)).success, character).toBe(true);
    expect(turnResultSchema.safeParse(result(`${full}x`)).success, character).toBe(false);
  }
});

test('a group of 64 members, and one more', () => {
  const members = (count: number): { deliveryId: string; idempotencyKey: string }[] =>
    Array.from({ length: count }, (_, at) => ({ deliveryId: `d${at}`, idempotencyKey: `k${at}` }));
  const fits = (inputs: ReturnType<typeof members>): boolean =>
    turnResultSchema.safeParse({
      serverInstanceId: 's',
      resultId: 'r',
      correlation: { scope: 'group', inputs },
      outcome: 'completed',
      fullText: 'x',
    }).success;
  expect([1, 2, 64, 65].map((count) => fits(members(count)))).toEqual([false, true, true, false]);
});
