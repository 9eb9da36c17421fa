/*
 * How a very long transcript is read: `node packages/engines/dist/bench/large-record-main.js [MiB]`,
 * built by `npm run build`, writes one of 500 MiB to the temporary directory, follows it from its
 * start as after a restart, then lets one more turn be written, and says what it took. Nothing is
 * left behind.
 */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, watch, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@ostler/runtime';
import { ClaudeRecord } from '../claude/record.js';
import { RecordTail } from '../record-tail.js';

const mebibyte = 1024 * 1024;
const wantedMiB = Number(process.argv[2] ?? 500);

let count = 0;
let leaf: string | null = null;

function entry(fields: object): string {
  count += 1;
  const uuid = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  const timestamp = new Date(1_800_000_000_000 + count).toISOString();
  const line = { parentUuid: leaf, isSidechain: false, uuid, timestamp, ...fields };
  leaf = uuid;
  return `${JSON.stringify(line)}\n`;
}

/** A turn with `tools` uses of a tool, each with 8 KiB of output. */
function turn(number: number, tools: number): string {
  const lines = [
    entry({
      type: 'user',
      origin: { kind: 'human' },
      promptSource: 'typed',
      message: { role: 'user', content: `prompt ${number}` },
    }),
  ];
  for (let tool = 0; tool < tools; tool += 1) {
    const id = `tool-${number}-${tool}`;
    lines.push(
      entry({
        type: 'assistant',
        message: {
          id: `message-${number}-${tool}`,
          stop_reason: 'tool_use',
          content: [{ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } }],
        },
      }),
      entry({
        type: 'user',
        message: {
          content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(8_192) }],
        },
      }),
    );
  }
  const content = [{ type: 'text', text: `answer ${number}` }];
  const message = { id: `end-${number}`, stop_reason: 'end_turn', content };
  lines.push(
    entry({ type: 'assistant', message }),
    entry({ type: 'system', subtype: 'turn_duration' }),
  );
  return lines.join('');
}

const dir = mkdtempSync(join(tmpdir(), 'ostler-large-'));
try {
  const path = join(dir, 'record.jsonl');
  const file = openSync(path, 'w');
  let turns = 0;
  for (let bytes = 0; bytes < wantedMiB * mebibyte; turns += 1) {
    const text = turn(turns, 20);
    bytes += writeSync(file, text);
  }
  const sizeMiB = statSync(path).size / mebibyte;
  const record = new ClaudeRecord();
  const beforeMiB = process.memoryUsage().rss / mebibyte;
  let peakMiB = beforeMiB;
  let ends = 0;
  let untold = 0;
  let firstAtMs = Number.NaN;
  let onEnd: () => void = () => undefined;
  const startedAtMs = systemClock.monotonicMs();
  await using tail = new RecordTail({
    path,
    from: 'start',
    clock: systemClock,
    onRecord: ({ value }) => {
      for (const event of record.take(value)) {
        if (event.kind !== 'turn_ended') continue;
        if (event.inputRefs.length !== 1) untold += 1;
        ends += 1;
        if (ends === 1) firstAtMs = systemClock.monotonicMs() - startedAtMs;
        if (ends % 64 === 0) peakMiB = Math.max(peakMiB, process.memoryUsage().rss / mebibyte);
        onEnd();
      }
    },
  });
  // Following a record keeps no process alive.
  const alive = watch(dir);
  await tail.catchUp();
  const wholeMs = systemClock.monotonicMs() - startedAtMs;
  peakMiB = Math.max(peakMiB, process.memoryUsage().rss / mebibyte);
  const wholeEnds = ends;

  const told = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const writtenAtMs = systemClock.monotonicMs();
  writeSync(file, turn(turns, 1));
  await told;
  const liveMs = systemClock.monotonicMs() - writtenAtMs;
  alive.close();
  closeSync(file);
  process.stdout.write(
    [
      `${sizeMiB.toFixed(0)} MiB, ${count} entries, ${turns} turns`,
      `first end after ${firstAtMs.toFixed(1)} ms, all ${wholeEnds} after ${wholeMs.toFixed(0)} ms, ${untold} not tied`,
      `memory ${beforeMiB.toFixed(0)} MiB before, ${peakMiB.toFixed(0)} MiB at most`,
      `a turn written behind it: told after ${liveMs.toFixed(1)} ms`,
      '',
    ].join('\n'),
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
