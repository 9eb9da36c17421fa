import { VirtualClock } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { codeOf, testMailbox } from './testing/test-mailbox.js';

const id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';

test('a wait ends with the answer, and sends nothing', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  await mailbox.send('alice', 'bob', 'question', { id });
  using other = world.again();
  const waiting = mailbox.wait('alice', id, 45);
  await other.reply('bob', id, 'answer', { notify: false });
  expect(await waiting).toMatchObject({
    ended: 'reply',
    message: { state: 'reply_received', reply: { body: 'answer' } },
  });
  expect(await mailbox.wait('alice', id, 0)).toMatchObject({ ended: 'reply' });
  expect(world.notifier.seen).toHaveLength(1);
});

test('a wait ends in time', async () => {
  const clock = new VirtualClock();
  using world = testMailbox(clock);
  await world.mailbox.send('alice', 'bob', 'question', { id });
  expect(await world.mailbox.wait('alice', id, 0)).toMatchObject({
    ended: 'timeout',
    message: { state: 'saved', reply: null },
  });
  const waiting = world.mailbox.wait('alice', id, 12.5);
  let ended = false;
  void waiting.then(() => {
    ended = true;
  });
  const stepMs = 100;
  for (let passedMs = 0; passedMs < 12_400; passedMs += stepMs) {
    clock.advance(stepMs);
    await new Promise(setImmediate);
  }
  expect(ended).toBe(false);
  while (!ended) {
    clock.advance(stepMs);
    await new Promise(setImmediate);
  }
  expect(await waiting).toMatchObject({ ended: 'timeout' });
});

test('one waits for an own request, a finite number of seconds from 0 to 45', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  await mailbox.send('alice', 'bob', 'question', { id });
  const { message } = await mailbox.reply('bob', id, 'answer');
  for (const seconds of [-0.1, 45.1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(await codeOf(() => mailbox.wait('alice', id, seconds))).toBe(
      'wait_seconds_must_be_between_0_and_45',
    );
  }
  expect(await codeOf(() => mailbox.wait('bob', id, 0))).toBe('wait_requires_own_request');
  expect(await codeOf(() => mailbox.wait('bob', message.id, 0))).toBe('wait_requires_own_request');
  expect(await codeOf(() => mailbox.wait('carol', id, 0))).toBe('message_not_addressed_to_peer');
});

test('a wait that is broken off leaves everything as it was', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  await mailbox.send('alice', 'bob', 'question', { id });
  const before = mailbox.show('alice', id);
  const broken = new AbortController();
  const waiting = mailbox.wait('alice', id, 45, broken.signal);
  broken.abort(new Error('no longer'));
  await expect(waiting).rejects.toThrow('no longer');
  expect(mailbox.show('alice', id)).toEqual(before);
});
