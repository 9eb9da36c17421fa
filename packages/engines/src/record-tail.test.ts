import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { VirtualClock } from '@ostler/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RecordLine, type RecordReset, type RecordStart, RecordTail } from './record-tail.js';

let directory: string;
const open: RecordTail[] = [];

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'record-tail-'));
});

afterEach(async () => {
  for (const tail of open.splice(0)) await tail[Symbol.asyncDispose]();
  fs.rmSync(directory, { recursive: true });
});

function follow(file: string, from: RecordStart, limits = {}, clock = new VirtualClock()) {
  const lines: RecordLine[] = [];
  const resets: RecordReset[] = [];
  const waiting = new Set<() => void>();
  const tail = new RecordTail({
    path: file,
    from,
    clock,
    limits,
    onRecord: (line) => {
      lines.push(line);
      for (const wake of waiting) wake();
    },
    onReset: (reason) => resets.push(reason),
  });
  open.push(tail);
  const values = (): unknown[] => lines.map((line) => line.value);
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (lines.length < count) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { tail, lines, resets, values, until, clock };
}

const at = (name: string): string => path.join(directory, name);

describe('following', () => {
  test('whole lines only, however the bytes arrive', async () => {
    const file = at('a.jsonl');
    const text = '{"n":1,"t":"é🙂"}\n{"n":2}\r\n\n{"n":3}\n';
    fs.writeFileSync(file, '');
    const seen = follow(file, 'start', { readChunkBytes: 3 });
    for (const byte of Buffer.from(text)) {
      fs.appendFileSync(file, Buffer.from([byte]));
      await seen.tail.catchUp();
    }
    expect(seen.values()).toEqual([{ n: 1, t: 'é🙂' }, { n: 2 }, { n: 3 }]);
    expect(seen.lines.map((line) => line.offset)).toEqual([0, 21, 31]);
  });

  test('a file event alone is enough', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, '{"n":1}\n');
    const seen = follow(file, 'end');
    await seen.tail.catchUp();
    fs.appendFileSync(file, '{"n":2}\n');
    await seen.until(1);
    expect(seen.values()).toEqual([{ n: 2 }]);
  });

  test('a file in directories that appear later is read from its start', async () => {
    const file = at('sessions/2026/11/r.jsonl');
    const seen = follow(file, 'end');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, '{"n":1}\n');
    await seen.until(1);
    fs.appendFileSync(file, '{"n":2}\n');
    await seen.until(2);
    expect(seen.values()).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('the safety poll finds what no event told', async () => {
    const file = at('sub/a.jsonl');
    const seen = follow(file, 'end', { safetyPollMs: 500 });
    fs.mkdirSync(at('sub'));
    fs.writeFileSync(file, '{"n":1}\n');
    seen.clock.advance(500);
    await seen.until(1);
    expect(seen.values()).toEqual([{ n: 1 }]);
  });

  test('start at an offset, and at the end in the middle of a line', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, '{"n":1}\n{"n":2}\n{"n":');
    const offset = follow(file, { offset: 8 });
    const end = follow(file, 'end');
    fs.appendFileSync(file, '3}\n');
    await offset.tail.catchUp();
    await end.tail.catchUp();
    expect(offset.values()).toEqual([{ n: 2 }, { n: 3 }]);
    expect(end.values()).toEqual([{ n: 3 }]);
  });

  test('many files, each its own lines', async () => {
    const tails = Array.from({ length: 60 }, (_, n) => ({
      file: at(`${n}.jsonl`),
      seen: follow(at(`${n}.jsonl`), 'end'),
      n,
    }));
    for (let round = 0; round < 3; round += 1) {
      for (const { file, n } of tails) fs.appendFileSync(file, `{"n":${n},"round":${round}}\n`);
    }
    for (const { seen, n } of tails) {
      await seen.until(3);
      expect(seen.values()).toEqual([0, 1, 2].map((round) => ({ n, round })));
    }
  });
});

describe('damage', () => {
  test('malformed lines are counted, the next is read', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, '{"n":1\nnonsense\n{"n":2}\n');
    const seen = follow(file, 'start');
    await seen.tail.catchUp();
    expect(seen.values()).toEqual([{ n: 2 }]);
    expect(seen.tail.counts).toMatchObject({ malformed: 2, lines: 1 });
  });

  test('a line past the limit is skipped and counted', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, `{"n":"${'x'.repeat(5_000)}"}\n{"n":2}\n`);
    const seen = follow(file, 'start', { maxLineBytes: 1_000, readChunkBytes: 256 });
    await seen.tail.catchUp();
    expect(seen.values()).toEqual([{ n: 2 }]);
    expect(seen.tail.counts.tooLong).toBe(1);
  });

  test('a truncated file is read from its start again', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, '{"n":1}\n{"n":2}\n');
    const seen = follow(file, 'end');
    await seen.tail.catchUp();
    fs.writeFileSync(file, '{"n":3}\n');
    await seen.tail.catchUp();
    expect(seen.values()).toEqual([{ n: 3 }]);
    expect(seen.resets).toEqual(['truncated']);
  });

  test('a file rewritten to a greater length is noticed', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, '{"n":1}\n');
    const seen = follow(file, 'end');
    await seen.tail.catchUp();
    fs.writeFileSync(file, '{"n":7}\n{"n":8}\n');
    await seen.tail.catchUp();
    expect(seen.values()).toEqual([{ n: 7 }, { n: 8 }]);
    expect(seen.resets).toEqual(['rewritten']);
  });

  test('a replaced file: the old one to its end, then the new one', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, '{"n":1}\n');
    const seen = follow(file, 'end');
    await seen.tail.catchUp();
    fs.appendFileSync(file, '{"n":2}\n');
    fs.renameSync(file, at('a.old'));
    fs.writeFileSync(file, '{"n":3}\n');
    await seen.until(2);
    expect(seen.values()).toEqual([{ n: 2 }, { n: 3 }]);
    expect(seen.resets).toEqual(['replaced']);
  });

  test('a gigabyte is not read to follow its end', async () => {
    const file = at('big.jsonl');
    fs.writeFileSync(file, '');
    fs.truncateSync(file, 1024 ** 3);
    const seen = follow(file, 'end');
    await seen.tail.catchUp();
    expect(seen.tail.offset).toBe(1024 ** 3);
    fs.appendFileSync(file, 'rest of a line\n{"n":1}\n');
    await seen.tail.catchUp();
    expect(seen.values()).toEqual([{ n: 1 }]);
  });

  test('a listener that throws does not stop the others lines', async () => {
    const file = at('a.jsonl');
    fs.writeFileSync(file, '{"n":1}\n{"n":2}\n');
    const values: unknown[] = [];
    const tail = new RecordTail({
      path: file,
      from: 'start',
      clock: new VirtualClock(),
      onRecord: ({ value }) => {
        values.push(value);
        throw new Error('listener');
      },
    });
    open.push(tail);
    await tail.catchUp();
    expect(values).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

test('disposal is idempotent, closes the file and leaves no timer', async () => {
  const file = at('a.jsonl');
  fs.writeFileSync(file, '{"n":1}\n');
  const clock = new VirtualClock();
  const openFiles = (): number =>
    fs.readdirSync('/proc/self/fd').filter((fd) => linkOf(fd) === file).length;
  const seen = follow(file, 'start', {}, clock);
  await seen.tail.catchUp();
  expect(openFiles()).toBe(1);
  await Promise.all([seen.tail[Symbol.asyncDispose](), seen.tail[Symbol.asyncDispose]()]);
  await seen.tail[Symbol.asyncDispose]();
  expect(openFiles()).toBe(0);
  expect(clock.nextDueMs()).toBeNull();
  fs.appendFileSync(file, '{"n":2}\n');
  await seen.tail.catchUp();
  expect(seen.values()).toEqual([{ n: 1 }]);
});

function linkOf(fd: string): string {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
