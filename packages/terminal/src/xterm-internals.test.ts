import headless from '@xterm/headless';
import { expect, test } from 'vitest';
import { openInternals, rawRow } from './xterm-internals.js';

function terminal(): headless.Terminal {
  return new headless.Terminal({
    cols: 10,
    rows: 4,
    scrollback: 0,
    allowProposedApi: true,
    logLevel: 'off',
  });
}

test('the pinned version parses at once', () => {
  const t = terminal();
  const { parse } = openInternals(t);
  expect(parse).not.toBeNull();
  parse?.('abc');
  expect(t.buffer.active.getLine(0)?.translateToString(true)).toBe('abc');
  t.dispose();
});

test('the pinned version tells which rows a parse touched', () => {
  const t = terminal();
  const { parse, onDirtyRows } = openInternals(t);
  expect(onDirtyRows).not.toBeNull();
  const ranges: unknown[] = [];
  onDirtyRows?.((range) => ranges.push(range));
  parse?.('\u001b[3;1Hx');
  expect(ranges).toEqual([{ start: 0, end: 2 }]);
  parse?.('y');
  expect(ranges[1]).toEqual({ start: 2, end: 2 });
  t.dispose();
});

test("the pinned version's rows keep their object and their three words a cell", () => {
  const t = terminal();
  openInternals(t).parse?.('\u001b[4;1H\u001b[1;38;2;1;2;3mA');
  const line = t.buffer.active.getLine(3);
  const row = line && rawRow(line);
  expect([...(row?._data.subarray(0, 2) ?? [])]).toEqual([
    65 | (1 << 22),
    (0x8000000 | 0x3000000 | 0x010203) >>> 0,
  ]);
  openInternals(t).parse?.('\n');
  const moved = t.buffer.active.getLine(2);
  expect(moved && rawRow(moved)).toBe(row);
  t.dispose();
});

test('without them the answer is to use the public API', () => {
  expect(openInternals({} as headless.Terminal)).toEqual({
    parse: null,
    onDirtyRows: null,
    changeFirstParameter: null,
    mendRows: null,
  });
  expect(rawRow({ length: 3 } as headless.IBufferLine)).toBeNull();
});
