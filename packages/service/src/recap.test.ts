import { utf8Bytes } from '@ostler/protocol';
import { VirtualClock } from '@ostler/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutToBytes, cutToCharacters } from './cut-text.js';
import { Recap } from './recap.js';
import { AgentStreams, type StreamMessage } from './streams.js';
import { stableId, Turns } from './turns.js';

const end = (finalText: string | null, outcome: 'completed' | 'cancelled' = 'completed') =>
  ({ kind: 'turn_ended', turnRef: 't', outcome, inputRefs: [], finalText, atMs: 9 }) as const;
const words = (text: string) => ({ kind: 'turn_text', turnRef: 't', text, atMs: 5 }) as const;

test('cut behind whole characters, never longer than allowed', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.integer({ min: 4, max: 60 }),
      (text, max) => {
        const characters = cutToCharacters(text, max);
        expect([...characters].length).toBeLessThanOrEqual(max);
        const bytes = cutToBytes(text, max);
        expect(utf8Bytes(bytes)).toBeLessThanOrEqual(max);
        for (const cut of [characters, bytes]) {
          if (cut === text) continue;
          expect(cut.endsWith('…')).toBe(true);
          expect(text.startsWith(cut.slice(0, -1))).toBe(true);
        }
      },
    ),
  );
});

describe('recap', () => {
  test('the last words of a running turn, then of its end, which stays', () => {
    const recap = new Recap();
    recap.note('a', { kind: 'turn_started', turnRef: 't', atMs: 1 });
    recap.note('a', words('Looking.\n\nThere it is.'));
    expect(recap.latest(3)).toMatchObject([
      { turnId: 'a', outcome: 'running', recap: 'Looking. There it is.', at: 5 },
    ]);
    recap.note('a', end('Done: '.concat('x'.repeat(9_000))));
    recap.note('a', words('late'));
    const [turn] = recap.latest(1);
    expect(turn?.outcome).toBe('completed');
    expect([...(turn?.recap ?? '')]).toHaveLength(60);
    expect([...(turn?.text ?? '')]).toHaveLength(250);
    expect(utf8Bytes(turn?.fullText ?? '')).toBe(8_192);
  });

  test('an end without words keeps those that were said; five turns are kept', () => {
    const recap = new Recap();
    recap.note('a', words('So far.'));
    recap.note('a', end(null, 'cancelled'));
    expect(recap.latest(1)).toMatchObject([{ outcome: 'cancelled', fullText: 'So far.' }]);
    for (const turnId of 'bcdef') recap.note(turnId, end(turnId));
    expect(recap.latest(9).map(({ turnId }) => turnId)).toEqual([...'bcdef']);
    expect(recap.latest(2).map(({ turnId }) => turnId)).toEqual(['e', 'f']);
  });
});

describe('streams', () => {
  const clock = new VirtualClock();
  const follow = () => {
    const streams = new AgentStreams({ machineId: 'm', agentId: 'a', clock });
    const seen: Record<string, unknown>[] = [];
    const note = ({ event }: StreamMessage): void => void seen.push({ ...event });
    return { streams, seen, note };
  };

  test('words are gathered for 250 ms, and come in front of what follows them', () => {
    const { note, seen, streams } = follow();
    using _ = streams.on(note);
    streams.note('t1', words('One '));
    streams.note('t1', words('two.'));
    clock.advance(249);
    expect(seen).toEqual([]);
    clock.advance(1);
    expect(seen).toEqual([
      {
        type: 'stream',
        machineId: 'm',
        agentId: 'a',
        stream: 'text',
        turnId: 't1',
        text: 'One two.',
      },
    ]);
    streams.note('t1', words('Three.'));
    const use = {
      kind: 'turn_tool',
      turnRef: 't',
      toolId: 'c',
      name: 'Bash',
      state: 'begun',
      atMs: 1,
    } as const;
    streams.note('t1', use);
    streams.note('t1', end('The end.'));
    expect(seen.slice(1)).toMatchObject([
      { stream: 'text', text: 'Three.' },
      { stream: 'tool', toolId: 'c', name: 'Bash', state: 'begun' },
      { stream: 'final', outcome: 'completed', text: 'The end.', isLast: true },
    ]);
  });

  test('4 KiB at most in a piece, whole characters, nothing lost', () => {
    const { note, seen, streams } = follow();
    using _ = streams.on(note);
    const text = '☕é'.repeat(3_000);
    streams.note('t1', words(text));
    streams.note('t1', end(text));
    for (const stream of ['text', 'final']) {
      const pieces = seen.filter((message) => message['stream'] === stream);
      expect(pieces.map((message) => message['text']).join('')).toBe(text);
      for (const piece of pieces)
        expect(utf8Bytes(String(piece['text']))).toBeLessThanOrEqual(4_096);
    }
    expect(seen.at(-1)).toMatchObject({ stream: 'final', isLast: true });
  });

  test('nothing is made while nobody follows', () => {
    const { note, seen, streams } = follow();
    const subscription = streams.on(note);
    subscription[Symbol.dispose]();
    subscription[Symbol.dispose]();
    streams.note('t1', words('unheard'));
    clock.advance(1_000);
    expect(seen).toEqual([]);
  });
});

test('a turn has one id in every process, another for every agent, and is a UUID', () => {
  const ids = { uuid: () => 'minted' };
  const [one, two, other] = [new Turns('a', ids), new Turns('a', ids), new Turns('b', ids)];
  expect(one.idOf('t')).toBe(two.ended('t', null));
  expect(one.idOf('t')).not.toBe(other.idOf('t'));
  expect(one.ended(null, 'end')).toBe(two.ended(null, 'end'));
  expect(one.idOf(null)).toBe('minted');
  expect(stableId('x')).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(stableId('a', 'bc')).not.toBe(stableId('ab', 'c'));
});
