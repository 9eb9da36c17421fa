import { expect, test } from 'vitest';
import { beginningOf, textKinds, textOf } from './texts.js';

test('texts have the size their kind names, and differ', () => {
  expect(Buffer.byteLength(textOf('20 B', 1_000))).toBe(20);
  expect(Buffer.byteLength(textOf('200 B', 1_000))).toBe(200);
  expect(Buffer.byteLength(textOf('2 KB', 1_000))).toBe(2_048);
  expect(textOf('six lines', 1_000).split('\n')).toHaveLength(6);
  for (const kind of textKinds) {
    expect(textOf(kind, 1_001)).not.toContain(beginningOf(textOf(kind, 1_000)));
  }
});
