import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OstlerEvent, type Receipt, receiptSchema } from '@ostler/protocol';
import { VirtualClock } from '@ostler/runtime';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { ClientError } from './client-error.js';
import type { ResultInboxStorage, Utterance } from './inbox-storage.js';
import { MemoryInboxStorage } from './memory-inbox-storage.js';
import { openSqliteInboxStorage } from './node-inbox/index.js';
import { type InboxEffect, ResultInbox } from './result-inbox.js';
import { Crash, crashing } from './testing/crashing-storage.js';

const fixtures = fileURLToPath(new URL('../../../fixtures/turn-correlation-v2/', import.meta.url));
const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});
function freshFile(): string {
  const dir = mkdtempSync(join(tmpdir(), 'ostler-inbox-'));
  dirs.push(dir);
  return join(dir, 'inbox.sqlite');
}

interface Line {
  readonly connection: number;
  readonly from: 'client' | 'server';
  readonly frame: Readonly<Record<string, unknown>> & { readonly type: string };
}

interface Expected {
  readonly effects: readonly { readonly line: number; readonly effect: string }[];
  readonly stored: readonly {
    readonly serverInstanceId: string;
    readonly resultId: string;
    readonly outcome: string;
    readonly idempotencyKeys: readonly string[];
  }[];
  readonly utterances: readonly { readonly resultId: string; readonly fullText: string }[];
  readonly unanswered: readonly string[];
}

const names = readdirSync(fixtures)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => name.replace('.jsonl', ''));
const linesOf = (name: string): Line[] =>
  readFileSync(join(fixtures, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const expectedOf = (name: string): Expected =>
  JSON.parse(readFileSync(join(fixtures, `${name}.expected.json`), 'utf8')) as Expected;

/** What a client does with one line of a stream. */
async function run(inbox: ResultInbox, { frame, from }: Line): Promise<InboxEffect | null> {
  if (from === 'client') {
    if (frame.type === 'turn.send') await inbox.expect(frame as never);
    return null;
  }
  if (frame.type === 'turn.send_result') {
    const receipt = receiptSchema.safeParse(frame['receipt']);
    if (receipt.success) await inbox.receipt(receipt.data);
  }
  if (frame.type !== 'event') return null;
  const effect = await inbox.event(frame as unknown as OstlerEvent);
  return frame['kind'] === 'turn.result' ? effect : null;
}

async function speakAll(inbox: ResultInbox): Promise<Utterance[]> {
  const spoken: Utterance[] = [];
  for (;;) {
    const effect = await inbox.speakNext((utterance) => {
      spoken.push(utterance);
      return Promise.resolve();
    });
    if (effect.kind === 'nothing_queued') return spoken;
  }
}

const storages: readonly [string, () => Promise<ResultInboxStorage>][] = [
  ['in memory', () => Promise.resolve(new MemoryInboxStorage())],
  ['in a file', () => openSqliteInboxStorage({ path: freshFile() })],
];

describe.each(storages)('an inbox %s', (_name, open) => {
  test('there are streams to run', () => expect(names.length).toBeGreaterThanOrEqual(8));

  test.each(names)('does with the stream %s what is expected', async (name) => {
    const expected = expectedOf(name);
    await using inbox = await ResultInbox.open({ storage: await open() });
    const effects: object[] = [];
    for (const [index, line] of linesOf(name).entries()) {
      const effect = await run(inbox, line);
      if (!effect) continue;
      const { ref: _ref, ...shown } = effect as InboxEffect & { ref?: unknown };
      effects.push({ line: index + 1, ...shown });
    }
    expect(effects).toEqual(expected.effects);
    const queued = await inbox.queued();
    expect(queued.map(({ fullText: _text, ...stored }) => stored)).toEqual(expected.stored);
    const open_ = await inbox.openKeys();
    expect(open_.map(({ idempotencyKey }) => idempotencyKey)).toEqual(expected.unanswered);
    const spoken = await speakAll(inbox);
    expect(spoken.map(({ fullText, resultId }) => ({ resultId, fullText }))).toEqual(
      expected.utterances,
    );
    expect(await speakAll(inbox)).toEqual([]);
  });

  test('speaks once: what playback left open stays uncertain, what it refused is queued again', async () => {
    await using inbox = await ResultInbox.open({ storage: await open() });
    for (const line of linesOf('single')) await run(inbox, line);
    const notStarted = new ClientError('PLAYBACK_NOT_STARTED', 'not_carried_out', 'no device');
    expect(await inbox.speakNext(() => Promise.reject(notStarted))).toMatchObject({
      kind: 'queued_again',
    });
    expect(await inbox.speakNext(() => Promise.reject(new Error('lost')))).toMatchObject({
      kind: 'uncertain',
    });
    expect(await speakAll(inbox)).toEqual([]);
    expect(await inbox.uncertain()).toHaveLength(1);
  });

  test('forgets a settled result with its keys, so that it is nobody’s when it comes again', async () => {
    const clock = new VirtualClock();
    await using inbox = await ResultInbox.open({
      storage: await open(),
      clock,
      limits: { retentionMs: 1_000 },
    });
    const lines = linesOf('single');
    for (const line of lines) await run(inbox, line);
    clock.advance(2_000);
    await inbox.prune();
    expect(await inbox.queued()).toHaveLength(1);
    await speakAll(inbox);
    await inbox.prune();
    const result = lines.find(({ frame }) => frame['kind'] === 'turn.result') as Line;
    expect(await run(inbox, result)).toEqual({ effect: 'refused', reason: 'unknown_key' });
  });

  test('is full at its limit, and refuses a key of another agent or one that is settled', async () => {
    await using inbox = await ResultInbox.open({
      storage: await open(),
      limits: { maxOpenKeys: 1 },
    });
    const key = { idempotencyKey: 'k', machineId: 'm', agentId: 'a' };
    await inbox.expect(key);
    await inbox.expect(key);
    await expect(inbox.expect({ ...key, agentId: 'b' })).rejects.toMatchObject({
      code: 'INBOX_KEY_REUSED',
    });
    await expect(inbox.expect({ ...key, idempotencyKey: 'l' })).rejects.toMatchObject({
      code: 'INBOX_FULL',
      outcome: 'not_carried_out',
    });
    await inbox.rejected('k');
    await expect(inbox.expect(key)).rejects.toMatchObject({ code: 'INBOX_KEY_REUSED' });
    await inbox.expect({ ...key, idempotencyKey: 'l' });
  });

  test('forgets a key that was never answered, so that there is room again', async () => {
    const clock = new VirtualClock();
    const limits = { maxOpenKeys: 1, retentionMs: 1_000 };
    await using inbox = await ResultInbox.open({ storage: await open(), clock, limits });
    const key = { idempotencyKey: 'k', machineId: 'm', agentId: 'a' };
    await inbox.expect(key);
    clock.advance(2_000);
    await inbox.expect({ ...key, idempotencyKey: 'l' });
    expect(await inbox.openKeys()).toMatchObject([{ idempotencyKey: 'l' }]);
  });

  test('asks for the delivery of a key whose answer was lost', async () => {
    await using inbox = await ResultInbox.open({ storage: await open() });
    const lines = linesOf('single');
    const receiptOf = lines.find(({ frame }) => frame.type === 'turn.send_result') as Line;
    const result = lines.find(({ frame }) => frame['kind'] === 'turn.result') as Line;
    const sent = lines.find(({ frame }) => frame.type === 'turn.send') as Line;
    await run(inbox, sent);
    const event = result.frame as unknown as OstlerEvent;
    expect(await inbox.event(event)).toEqual({ effect: 'waiting', idempotencyKey: 'ask-1' });
    const ask = (): Promise<Receipt> => Promise.resolve(receiptOf.frame['receipt'] as Receipt);
    expect(await inbox.event(event, ask)).toMatchObject({ effect: 'stored' });
  });
});

describe('an inbox in a file', () => {
  test('outlives its process: what was playing is uncertain, the place among the events is kept', async () => {
    const path = freshFile();
    {
      await using storage = await openSqliteInboxStorage({ path });
      const inbox = await ResultInbox.open({ storage });
      for (const line of linesOf('group')) await run(inbox, line);
      await inbox.applied({ serverInstanceId: 'i', cursor: 7 });
      const [utterance] = await inbox.queued();
      expect(await storage.moveUtterance(utterance as Utterance, 'queued', 'playing')).toBe(true);
      await expect(openSqliteInboxStorage({ path })).rejects.toMatchObject({
        code: 'INBOX_STORAGE',
      });
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await using inbox = await ResultInbox.open({ storage: await openSqliteInboxStorage({ path }) });
    expect(await inbox.uncertain()).toHaveLength(1);
    expect(await speakAll(inbox)).toEqual([]);
    expect(await inbox.resumePoint()).toEqual({ serverInstanceId: 'i', cursor: 7 });
  });

  test('is refused where the file is something else, which stays as it is', async () => {
    const path = freshFile();
    writeFileSync(path, 'a letter, and no database at all: it is longer than a header');
    await expect(openSqliteInboxStorage({ path })).rejects.toMatchObject({ code: 'INBOX_STORAGE' });
    expect(readFileSync(path, 'utf8')).toMatch(/^a letter/);
  });
});

describe('whatever comes, in whatever order', () => {
  /** All lines of all streams, each stream's keys, deliveries and results made its own. */
  const all: readonly Line[] = names.flatMap((name, index) =>
    linesOf(name).map(
      (line) =>
        JSON.parse(
          JSON.stringify(line)
            .replaceAll('"ask-', `"${name}-ask-`)
            .replaceAll(/"(d0d0d0d0|e0e0e0e0)-/g, `"$1-${index}-`),
        ) as Line,
    ),
  );
  const deliveries = new Map<string, string>();
  for (const { frame } of all) {
    const receipt = receiptSchema.safeParse(frame['receipt']);
    if (frame.type === 'turn.send_result' && receipt.success) {
      deliveries.set(receipt.data.idempotencyKey, receipt.data.deliveryId);
    }
  }

  function hold(utterances: readonly Utterance[], results: Map<string, OstlerEvent>): void {
    for (const utterance of utterances) {
      const event = results.get(`${utterance.resultId} ${utterance.fullText}`);
      const { correlation } = event?.payload as {
        correlation: { inputs: { idempotencyKey: string; deliveryId: string }[] };
      };
      for (const { deliveryId, idempotencyKey } of correlation.inputs) {
        expect(deliveries.get(idempotencyKey)).toBe(deliveryId);
      }
    }
    const refs = utterances.map(({ resultId, serverInstanceId }) => serverInstanceId + resultId);
    expect(new Set(refs).size).toBe(refs.length);
  }

  const results = new Map<string, OstlerEvent>();
  for (const { frame } of all) {
    if (frame['kind'] !== 'turn.result') continue;
    const payload = frame['payload'] as { readonly resultId: string; readonly fullText: string };
    const name = `${payload.resultId} ${payload.fullText}`;
    if (!results.has(name)) results.set(name, frame as unknown as OstlerEvent);
  }

  test('property: shuffled, repeated and cut streams, crashes between any two steps of the storage: never a wrong member, never spoken twice', async () => {
    /** Every line, mostly once; some left out, some repeated, some moved back or forth. */
    const stream = fc
      .array(fc.tuple(fc.constantFrom(0, 1, 1, 1, 1, 1, 2, 3), fc.integer({ min: -6, max: 6 })), {
        minLength: all.length,
        maxLength: all.length,
      })
      .map((plans) =>
        plans
          .flatMap(([times, shift], index) =>
            Array.from({ length: times }, (_, again) => ({ index, at: index + again * shift })),
          )
          .sort((one, other) => one.at - other.at)
          .map(({ index }) => index),
      );
    const crashes = fc.array(
      fc.record({ at: fc.integer({ min: 1, max: 400 }), behind: fc.boolean() }),
      { maxLength: 5 },
    );
    let spokenCount = 0;
    await fc.assert(
      fc.asyncProperty(stream, fc.nat(all.length), crashes, async (order, cutAt, planned) => {
        const kept = new MemoryInboxStorage();
        const spoken: Utterance[] = [];
        const clock = new VirtualClock();
        const lives = [...planned, { at: Number.POSITIVE_INFINITY, behind: false }];
        for (const [life, { at, behind }] of lives.entries()) {
          const storage = crashing(kept, at, behind ? 'behind' : 'before');
          try {
            const inbox = await ResultInbox.open({ storage, clock });
            // The first lives see the stream cut short.
            for (const index of life === lives.length - 1 ? order : order.slice(0, cutAt)) {
              await run(inbox, all[index] as Line).catch((failure: unknown) => {
                if (failure instanceof Crash) throw failure;
                expect(failure).toBeInstanceOf(ClientError);
              });
              await inbox.speakNext((utterance) => {
                spoken.push(utterance);
                return Promise.resolve();
              });
            }
          } catch (failure) {
            if (!storage.hasCrashed) throw failure;
          }
        }
        hold(spoken, results);
        spokenCount += spoken.length;
      }),
      { numRuns: 100 },
    );
    expect(spokenCount).toBeGreaterThan(100);
  });

  test('every single crash point of a whole stream', async () => {
    const lines = linesOf('replay');
    const expected = expectedOf('replay').utterances.length;
    let crashed = 0;
    for (const when of ['before', 'behind'] as const) {
      for (let at = 1; at < 200; at += 1) {
        const kept = new MemoryInboxStorage();
        const spoken: string[] = [];
        const live = async (storage: ResultInboxStorage): Promise<void> => {
          const inbox = await ResultInbox.open({ storage });
          for (const line of lines) {
            await run(inbox, line).catch((failure: unknown) => {
              if (!(failure instanceof ClientError)) throw failure;
            });
          }
          for (;;) {
            const effect = await inbox.speakNext(({ resultId }) => {
              spoken.push(resultId);
              return Promise.resolve();
            });
            if (effect.kind === 'nothing_queued') break;
          }
        };
        const first = crashing(kept, at, when);
        await live(first).catch((failure: unknown) => {
          if (!(failure instanceof Crash)) throw failure;
        });
        if (!first.hasCrashed) break;
        crashed += 1;
        await live(kept);
        const uncertain = await kept.utterances('uncertain', 64);
        expect(new Set(spoken).size).toBe(spoken.length);
        expect(new Set([...spoken, ...uncertain.map(({ resultId }) => resultId)]).size).toBe(
          expected,
        );
      }
    }
    expect(crashed).toBeGreaterThan(20);
  });
});
