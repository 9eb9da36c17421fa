import { expect, test } from 'vitest';
import { chance } from './random.js';
import { ProcessClock, SimClock } from './sim-clock.js';

test('callbacks run by time, one at a time, and a disposed one never', () => {
  const clock = new SimClock(chance(1, 'ties'));
  const ran: string[] = [];
  for (const delayMs of [30, 10, 20, 40]) clock.setTimer(delayMs, () => ran.push(`${delayMs}`));
  const timer = clock.setTimer(15, () => ran.push('disposed'));
  timer[Symbol.dispose]();
  expect(timer.active).toBe(false);
  while (clock.runNext(35));
  expect(ran).toEqual(['10', '20', '30']);
  expect(clock.monotonicMs()).toBe(35);
});

test('the seed orders what is due at one instant', () => {
  const orderOf = (seed: number): string => {
    const clock = new SimClock(chance(seed, 'ties'));
    let order = '';
    for (const name of 'abcdef') clock.setTimer(5, () => void (order += name));
    while (clock.runNext(5));
    return order;
  };
  expect(orderOf(1)).toBe(orderOf(1));
  expect(new Set([1, 2, 3, 4, 5].map(orderOf)).size).toBeGreaterThan(1);
});

test('with its process every timer of a clock is gone', () => {
  const clock = new SimClock(chance(1, 'ties'));
  const own = new ProcessClock(clock, () => undefined);
  let fired = 0;
  own.setTimer(5, () => void (fired += 1));
  own.setTimer(50, () => void (fired += 1));
  while (clock.runNext(10));
  expect(fired).toBe(1);
  own.die();
  while (clock.runNext(100));
  expect(fired).toBe(1);
});
