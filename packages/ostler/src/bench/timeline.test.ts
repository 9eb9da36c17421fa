import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DraftMatch, EngineReader, Reading } from '@ostler/engines';
import { unreadable } from '@ostler/engines';
import type { ScreenSnapshot } from '@ostler/terminal';
import { afterAll, expect, test } from 'vitest';
import { overheadOf } from './overhead.js';
import { textOf } from './texts.js';
import { readTimeline } from './timeline.js';

const dir = mkdtempSync(join(tmpdir(), 'ostler-bench-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const text = textOf('20 B', 1_000);
const sent = [{ key: 'a', kind: '20 B', text }] as const;

/** The draft is the first row. */
const firstRow = (snapshot: ScreenSnapshot): string => snapshot.rows[0]?.text ?? '';
const reader: EngineReader = {
  engine: 'first-row',
  version: null,
  busyMode: 'daemon_queue',
  read(snapshot): Reading {
    const draft = firstRow(snapshot);
    const composer = { draft, rows: [draft], ghost: null, collapsed: [] };
    return {
      ...unreadable,
      readable: true,
      composer: { ...composer, hiddenRows: { above: 0, below: 0 } },
    };
  },
  prepareBody: (body) => ({ kind: 'ready', body: { frames: [body], text: body } }),
  matchDraft(reading, body): DraftMatch {
    const draft = reading.composer?.draft ?? '';
    return draft === '' ? 'empty' : draft === body.text ? 'exact' : 'partial';
  },
  fingerprint: (body) => body,
  stopKeys: () => null,
  planAnswer: () => ({ kind: 'refused', reason: 'none', message: 'none' }),
};

type Entry = readonly [seconds: number, kind: 'o' | 'i' | 'm', data: string];

function record(name: string, entries: readonly Entry[]): string {
  const path = join(dir, `${name}.cast`);
  const header = { version: 2, width: 40, height: 4 };
  const lines = [header, ...entries].map((line) => JSON.stringify(line));
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

const clear = '\u001b[2J\u001b[H';
const delivery: readonly Entry[] = [
  [1, 'm', 'send a'],
  [1.001, 'm', 'lease '],
  [1.002, 'i', text],
  [1.005, 'o', text.slice(0, 8)],
  [1.012, 'o', text.slice(8)],
  [1.013, 'i', '\r'],
  [1.02, 'o', '\u0007'],
];

test('the loop is closed by the whole echo and by the output that cleared the draft', async () => {
  const path = record('screen', [
    ...delivery,
    [1.033, 'o', clear],
    [1.034, 'm', 'accepted a composer_left'],
    [1.035, 'm', 'released '],
  ]);
  const timeline = await readTimeline(path, reader, { sent, blind: [], unsettled: 0 });
  expect(timeline.left).toEqual([]);
  const { echoMs, floorMs, overheadMs, ratio, toPasteMs } = overheadOf(timeline);
  expect(echoMs?.median).toBeCloseTo(10);
  expect(floorMs?.median).toBeCloseTo(30);
  expect(overheadMs?.median).toBeCloseTo(4);
  expect(toPasteMs?.median).toBeCloseTo(2);
  expect(ratio?.median).toBeCloseTo(34 / 30);
  expect(timeline.deliveries[0]?.leaseMs).toBeCloseTo(34);
});

test('what was accepted beside the screen is measured by that observation', async () => {
  const path = record('beside', [
    ...delivery,
    [1.023, 'm', 'beside hook'],
    [1.024, 'm', 'accepted a hook'],
    [1.025, 'm', 'released '],
    [1.033, 'o', clear],
  ]);
  const timeline = await readTimeline(path, reader, { sent, blind: [], unsettled: 0 });
  expect(timeline.deliveries[0]?.evidence).toBe('hook');
  expect(overheadOf(timeline).floorMs?.median).toBeCloseTo(20);
});

test('a delivery without a seen observation is left out and named', async () => {
  const path = record('unseen', [...delivery, [1.034, 'm', 'accepted a composer_left']]);
  const timeline = await readTimeline(path, reader, { sent, blind: [], unsettled: 0 });
  expect(timeline.deliveries).toEqual([]);
  expect(timeline.left).toEqual([{ key: 'a', why: 'the replay shows no composer_left' }]);
});

test('a blind write ends where its text stands above an empty draft, and a lost Enter is counted', async () => {
  const blind = [
    { key: 'b', kind: '20 B', text },
    { key: 'c', kind: '20 B', text: textOf('20 B', 1_001) },
  ] as const;
  const path = record('blind', [
    [2, 'm', 'blind b'],
    [2.001, 'i', `${text}\r`],
    [2.006, 'o', `${clear}\r\n${text}`],
    [3, 'm', 'blind c'],
    [3.001, 'i', `${blind[1].text}\r`],
    [3.01, 'o', `${clear}${blind[1].text}`],
    [6, 'i', '\r'],
  ]);
  const timeline = await readTimeline(path, reader, { sent: [], blind, unsettled: 0 });
  expect(timeline.blindMs).toHaveLength(1);
  expect(timeline.blindMs[0]).toBeCloseTo(5);
  expect(timeline.blindLost).toBe(1);
});
