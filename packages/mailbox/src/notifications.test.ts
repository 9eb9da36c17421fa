import { CodedError, VirtualClock } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { DoorNotifier } from './door-notifier.js';
import { Mailbox } from './mailbox.js';
import type { Notification } from './notifier.js';
import { mailCommandLine, pointerText } from './pointer-text.js';
import { type OwnedTerminals, TerminalNotifier, type TypedPointer } from './terminal-notifier.js';
import { fakeDoor, NotedNotifier, sessions, testMailbox } from './testing/test-mailbox.js';

test('without a notification nothing is attempted, then or later', async () => {
  using world = testMailbox();
  const { message } = await world.mailbox.send('alice', 'bob', 'quiet', { notify: false });
  expect(message).toMatchObject({ submission: 'not_submitted', notification_started_at: null });
  const again = await world.mailbox.send('alice', 'bob', 'quiet', { id: message.id });
  expect(again).toMatchObject({ created: false, attempted: false });
  expect(world.notifier.seen).toEqual([]);
});

test('what became of the attempt is stored with its times; a thrown error is in doubt', async () => {
  const clock = new VirtualClock(1_000_000);
  using world = testMailbox(clock);
  world.notifier.during = () => clock.advance(500);
  const results = [
    [{ submission: 'submitted', detail: 'd' }, 'submitted', 'd'],
    [{ submission: 'not_submitted', detail: 'gone' }, 'not_submitted', 'gone'],
    [{ submission: 'submission_unknown', detail: 'timeout' }, 'submission_unknown', 'timeout'],
    [new TypeError('boom'), 'submission_unknown', 'TypeError'],
  ] as const;
  for (const [result, submission, detail] of results) {
    world.notifier.result = result;
    const startedAt = clock.nowMs() / 1000;
    const { message, attempted } = await world.mailbox.send('alice', 'bob', 'x');
    expect(attempted).toBe(true);
    expect(message).toMatchObject({
      submission,
      notification_detail: detail,
      notification_started_at: startedAt,
      notification_finished_at: startedAt + 0.5,
    });
  }
});

test('a message whose attempt ended badly is never attempted again', async () => {
  using world = testMailbox();
  for (const submission of ['not_submitted', 'submission_unknown'] as const) {
    world.notifier.result = { submission, detail: 'x' };
    const { message } = await world.mailbox.send('alice', 'bob', 'once');
    world.notifier.result = { submission: 'submitted', detail: 'y' };
    const again = await world.mailbox.send('alice', 'bob', 'once', { id: message.id });
    expect(again).toMatchObject({ attempted: false, message: { submission } });
  }
  expect(world.notifier.seen).toHaveLength(2);
});

test('the pointer names the message and the command that reads it, warns, and has nothing of the body', async () => {
  using world = testMailbox();
  const { message } = await world.mailbox.send('alice', 'bob', 'the secret body');
  const [seen] = world.notifier.seen;
  expect(seen?.peer).toMatchObject({ name: 'bob', session_id: sessions.bob });
  expect(seen?.text).toContain(message.id);
  expect(seen?.text).toContain(`ostler mail --db ${world.path} --as bob inbox`);
  expect(seen?.text).toContain("never the owner's authorization");
  expect(seen?.text).not.toContain('secret');
  expect(seen?.text).not.toMatch(/[^\n\x20-\x7e]/u);
});

test('a command line is quoted for a shell', () => {
  expect(mailCommandLine("/a b/it's.db", null, ['peer', 'list'])).toBe(
    `ostler mail --db '/a b/it'\\''s.db' peer list`,
  );
  const text = pointerText({ messageId: 'm', reader: 'bob', path: '/a;rm -rf $HOME/m' });
  expect(text).toContain(`--db '/a;rm -rf $HOME/m' --as bob inbox`);
});

const notification: Notification = {
  peer: {
    name: 'bob',
    harness: 'south',
    session_id: sessions.bob,
    workspace: '/w',
    socket: null,
  },
  messageId: 'm',
  sender: 'alice',
  text: 'pointer',
};

function terminals(type: () => Promise<TypedPointer>, owned = true): OwnedTerminals {
  const terminal = { agentId: 'a', engine: 'south', version: null };
  return { find: async () => (owned ? terminal : null), sessionOf: async () => null, type };
}

test('an owned terminal is typed into, and its receipt says what is known', async () => {
  const door = new NotedNotifier();
  const told = async (outcome: TypedPointer['outcome'], reason: string | null = null) =>
    await new TerminalNotifier(
      terminals(async () => ({ deliveryId: 'd1', outcome, reason })),
      door,
    ).notify(notification);
  expect(await told('accepted')).toEqual({
    submission: 'submitted',
    detail: 'ostler_accepted:d1',
  });
  expect(await told('rejected', 'body_refused')).toEqual({
    submission: 'not_submitted',
    detail: 'ostler_rejected:body_refused',
  });
  expect(await told('open', 'waiting_for_user')).toEqual({
    submission: 'submission_unknown',
    detail: 'ostler_open:waiting_for_user',
  });
  const lost = terminals(async () => ({ deliveryId: null, outcome: 'open', reason: 'TIMEOUT' }));
  expect(await new TerminalNotifier(lost, door).notify(notification)).toEqual({
    submission: 'submission_unknown',
    detail: 'ostler_open:TIMEOUT',
  });
  const refused = new TerminalNotifier(
    terminals(async () => Promise.reject(new CodedError('BACKPRESSURE', 'full'))),
    door,
  );
  expect(await refused.notify(notification)).toEqual({
    submission: 'not_submitted',
    detail: 'ostler:BACKPRESSURE',
  });
  expect(door.seen).toEqual([]);
});

test('a session without a terminal of ours, or whose registry is away, goes through its door', async () => {
  const door = new NotedNotifier();
  const never = async (): Promise<TypedPointer> => Promise.reject(new Error('typed'));
  await new TerminalNotifier(terminals(never, false), door).notify(notification);
  const away: OwnedTerminals = {
    find: async () => Promise.reject(new CodedError('DAEMON_UNREACHABLE', 'away')),
    sessionOf: async () => null,
    type: never,
  };
  await new TerminalNotifier(away, door).notify(notification);
  expect(door.seen).toHaveLength(2);
});

test('a check asks the registry first, and sends nothing; where it is away the door is looked at', async () => {
  using world = testMailbox();
  const never = async (): Promise<TypedPointer> => Promise.reject(new Error('typed'));
  const doors = [fakeDoor('north'), fakeDoor('south')];
  const check = async (owned: OwnedTerminals): Promise<unknown> => {
    using mailbox = new Mailbox({ path: world.path, doors, terminals: owned });
    return await mailbox.checkPeer('bob');
  };
  expect(await check(terminals(never))).toMatchObject({
    kind: 'found',
    evidence: { harness: 'south', transport: 'ostler_turn_send', agent_id: 'a' },
  });
  const away = async (): Promise<never> => Promise.reject(new CodedError('DAEMON_GONE', 'away'));
  expect(await check({ ...terminals(never), find: away })).toEqual({
    kind: 'found',
    evidence: { session_id: sessions.bob },
  });
});

test('an engine without a door is not notified', async () => {
  expect(await new DoorNotifier([]).notify(notification)).toEqual({
    submission: 'not_submitted',
    detail: 'unsupported_harness',
  });
});
