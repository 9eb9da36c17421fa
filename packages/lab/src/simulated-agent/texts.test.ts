import { VirtualClock } from '@ostler/runtime';
import { pasteEnd, pasteStart, Screen, type ScreenSnapshot } from '@ostler/terminal';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseScript } from './parse-script.js';
import { SimulatedReader } from './reader.js';
import type { ScriptInput } from './script.js';
import { SimulatedAgent } from './simulated-agent.js';
import type { TruthFields } from './truth.js';

/** The agent in this process, on a screen, in virtual time. */
class Bench implements Disposable {
  readonly clock = new VirtualClock();
  readonly truth: TruthFields[] = [];
  readonly reader = new SimulatedReader('1.0.0+steering');
  readonly agent: SimulatedAgent;
  readonly screen: Screen;
  output = '';

  constructor(script: ScriptInput, cols: number, rows: number) {
    this.screen = new Screen({ cols, rows, clock: this.clock });
    this.agent = new SimulatedAgent(parseScript(script), {
      clock: this.clock,
      cols,
      rows,
      recordPath: 'record.jsonl',
      write: (data) => {
        this.output += data;
        this.screen.feed(data);
      },
      setReading: () => undefined,
      appendRecord: () => undefined,
      truth: (fields) => void this.truth.push(fields),
      exit: () => undefined,
      crash: () => undefined,
    });
    this.agent.start();
    this.clock.advance(50);
  }

  type(text: string): void {
    this.agent.input(Buffer.from(text));
    this.clock.advance(50);
  }

  look(): Promise<ScreenSnapshot> {
    return this.screen.look();
  }

  [Symbol.dispose](): void {
    this.screen[Symbol.dispose]();
  }
}

async function deliver(text: string, cols: number, rows: number): Promise<void> {
  using bench = new Bench({}, cols, rows);
  const verdict = bench.reader.prepareBody(text);
  if (verdict.kind !== 'ready') return;
  const { body } = verdict;
  const before = await bench.look();
  expect(bench.reader.matchDraft(bench.reader.read(before), body, before)).toBe('empty');
  bench.type(pasteStart + body.frames.join('') + pasteEnd);
  const snapshot = await bench.look();
  const reading = bench.reader.read(snapshot);
  expect(bench.reader.matchDraft(reading, body, snapshot)).toBe('exact');
  bench.type('\r');
  const received = bench.truth.filter(({ event }) => event === 'model_received');
  expect(received.map((event) => bench.reader.fingerprint(event.text ?? ''))).toEqual([
    bench.reader.fingerprint(text),
  ]);
}

const hard: Readonly<Record<string, string>> = {
  'a trailing newline': 'one\n',
  CRLF: 'one\r\ntwo\r\n\r\nthree',
  'a lone CR': 'one\rtwo',
  tabs: '\tone\ttwo\t\tthree',
  'a trailing backslash': 'ends with \\',
  'a popup word': 'look at @src/main',
  'a command': '/clear everything',
  'a shell line': '!rm -rf build',
  '16 KiB of lines': 'a line of text\n'.repeat(1_092),
  'one line of 16 KiB': 'x'.repeat(16_384),
  'emoji with joiners': 'family 👨‍👩‍👧‍👦 flag 🇪🇺 skin 👍🏽 heart ❤️ end',
  CJK: '日本語のテキストと中文混排。'.repeat(12),
  'right to left': 'שלום עולם and مرحبا بالعالم',
  'combining marks': 'e\u0301a\u0308o\u0302 '.repeat(30),
  'a zero-width space': 'zero\u200bwidth\ufeffmarks',
  'a collapse marker': '[Pasted Content 1200 chars]',
  'a rule and a footer': '─'.repeat(30) + '\n  Enter to send · the simulated agent',
  'a dialog': '━'.repeat(30) + '\n Enter to allow · Esc to refuse',
  'line separators': 'one\u2028two\u2029three',
};

describe('a text that is pasted, recognised and submitted arrives as it was', () => {
  for (const [name, text] of Object.entries(hard)) {
    test(name, async () => {
      await deliver(text, 100, 32);
      await deliver(text, 31, 12);
    });
  }

  test('any text at any size', async () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('\n', ' ', '日本', '🙂'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 60 }).map((words) => words.join('')),
        fc.integer({ min: 24, max: 120 }),
        fc.integer({ min: 10, max: 40 }),
        deliver,
      ),
      { numRuns: 60 },
    );
  });
});

test('the same input at the same times gives the same bytes', () => {
  const run = (): string => {
    using bench = new Bench(
      { turns: [{ text: 'A', forMs: 500, output: ['working on it'] }] },
      80,
      24,
    );
    for (const keys of ['A', '\r', 'B', '\r']) bench.type(keys);
    bench.clock.advance(2_000);
    return bench.output;
  };
  expect(run()).toBe(run());
});
