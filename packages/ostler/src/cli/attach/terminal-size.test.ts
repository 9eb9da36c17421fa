import { maxColumnsCells, minRowsCells } from '@ostler/protocol';
import { expect, test } from 'vitest';
import { sizeOf } from './terminal-size.js';

test('a terminal that does not know its size gives none to the agent', () => {
  expect(sizeOf({ columns: 0, rows: 0 })).toBeNull();
  expect(sizeOf({ columns: 80, rows: 0 })).toBeNull();
  expect(sizeOf({ columns: 80, rows: 24 })).toEqual({ cols: 80, rows: 24 });
  expect(sizeOf({ columns: 1_000_000, rows: 1 })).toEqual({
    cols: maxColumnsCells,
    rows: minRowsCells,
  });
});
