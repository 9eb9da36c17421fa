import { maxFrameBytes } from '@ostler/protocol';
import { expect, test } from 'vitest';
import { fitting, pageOf } from './fitting.js';

interface Agent {
  readonly agentId: string;
  readonly recap: string;
}

const agents = (count: number): Agent[] =>
  Array.from({ length: count }, (_, index) => ({
    agentId: `agent-${String((index * 7) % count).padStart(4, '0')}`,
    recap: '語'.repeat(60),
  }));

const sizeOf = (page: object): number => Buffer.byteLength(JSON.stringify(page));

test('what fits is one page, in its own order', () => {
  const few = agents(20);
  expect(pageOf(few, undefined)).toEqual({ items: few, complete: true });
  expect(pageOf([], undefined)).toEqual({ items: [], complete: true });
});

test('pages hold everyone once, each in a frame, whoever comes and goes meanwhile', () => {
  let running = agents(999);
  const seen: string[] = [];
  let pages = 0;
  for (let after: string | undefined; ; pages += 1) {
    const page = pageOf(running, after);
    expect(sizeOf(page)).toBeLessThan(maxFrameBytes);
    seen.push(...page.items.map(({ agentId }) => agentId));
    if (page.complete) break;
    after = seen.at(-1);
    // The one that the next page begins behind is gone, and a new one has a lower id.
    running = running.filter(({ agentId }) => agentId !== after);
    running.unshift({ agentId: `agent-${pages}`, recap: '' });
  }
  expect(pages).toBeGreaterThan(1);
  const known = seen.filter((agentId) => agentId.length === 'agent-0000'.length);
  expect(new Set(known).size).toBe(999);
  expect(known).toHaveLength(999);
});

test('what is beside the items is left room for', () => {
  const rows = Array.from({ length: 400 }, () => 'x'.repeat(300));
  const kept = fitting(rows, 20_000);
  expect(kept.length).toBeLessThan(rows.length);
  expect(sizeOf(kept)).toBeLessThan(maxFrameBytes - 20_000);
});
