import { VirtualClock } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { SafetyPoll } from './safety-poll.js';

const poll = (clock: VirtualClock): { looks: () => number; poll: SafetyPoll } => {
  let looks = 0;
  const look = (): void => {
    looks += 1;
  };
  return { looks: () => looks, poll: new SafetyPoll({ clock, intervalMs: 1_000, look }) };
};

test('looks while something happens, and leaves no timer behind once nothing does', () => {
  const clock = new VirtualClock();
  const { looks } = poll(clock);
  clock.advance(5_000);
  expect(looks()).toBe(5);
  clock.advance(60_000);
  expect(looks()).toBe(15);
  expect(clock.nextDueMs()).toBeNull();
});

test('attention after a rest is a look one interval later', () => {
  const clock = new VirtualClock();
  const { looks, poll: rested } = poll(clock);
  clock.advance(60_000);
  const before = looks();
  rested.attend();
  clock.advance(1_000);
  expect(looks()).toBe(before + 1);
});

test('disposed it looks no more, attended or not', () => {
  const clock = new VirtualClock();
  const { looks, poll: ended } = poll(clock);
  ended[Symbol.dispose]();
  ended.attend();
  clock.advance(60_000);
  expect(looks()).toBe(0);
});
