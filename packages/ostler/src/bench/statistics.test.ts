import { expect, test } from 'vitest';
import { spreadOf } from './statistics.js';

test('nothing measured has no spread', () => {
  expect(spreadOf([])).toBeNull();
});

test('the median of an even count lies between, p95 is a value that was measured', () => {
  const values = Array.from({ length: 40 }, (_, index) => 40 - index);
  expect(spreadOf(values)).toEqual({ count: 40, median: 20.5, p95: 38, least: 1, most: 40 });
  expect(spreadOf([7])).toEqual({ count: 1, median: 7, p95: 7, least: 7, most: 7 });
});
