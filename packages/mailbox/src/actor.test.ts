import { expect, test } from 'vitest';
import { actorOf } from './actor.js';
import { codeOf, fakeDoor, sessions, testMailbox } from './testing/test-mailbox.js';

const doors = [fakeDoor('north'), { ...fakeDoor('south'), sessionOf: () => null }];

test('who speaks is said by --as, else by OSTLER_PEER, else by HTALK_PEER', async () => {
  using world = testMailbox();
  const who = (asserted: string | undefined, env: Record<string, string>): string =>
    actorOf(world.mailbox, { asserted, env, doors }).name;
  expect(who('alice', { OSTLER_PEER: 'bob', HTALK_PEER: 'carol' })).toBe('alice');
  expect(who(undefined, { OSTLER_PEER: 'bob', HTALK_PEER: 'carol' })).toBe('bob');
  expect(who('', { OSTLER_PEER: '', HTALK_PEER: 'carol' })).toBe('carol');
  expect(await codeOf(() => who(undefined, {}))).toBe('peer_required_use_as_or_OSTLER_PEER');
  expect(await codeOf(() => who('nobody', {}))).toBe('unknown_peer');
});

test('an engine whose environment is evidence refuses another session; one whose isn’t ignores it', async () => {
  using world = testMailbox();
  const who = (asserted: string, env: Record<string, string>): string =>
    actorOf(world.mailbox, { asserted, env, doors }).name;
  expect(who('alice', { NORTH_SESSION: sessions.alice })).toBe('alice');
  expect(await codeOf(() => who('alice', { NORTH_SESSION: sessions.carol }))).toBe(
    'actor_conflicts_north',
  );
  // bob's engine takes no variable for evidence, whoever set it.
  expect(who('bob', { NORTH_SESSION: sessions.carol, SOUTH_SESSION: sessions.alice })).toBe('bob');
});

test('inside a terminal Ostler owns the session is known and needs no assertion', async () => {
  using world = testMailbox();
  const inside = {
    OSTLER_AGENT_ID: 'agent',
    OSTLER_ENGINE: 'south',
    OSTLER_SESSION_ID: sessions.bob,
  };
  const who = (asserted: string | undefined, env: Record<string, string>): string =>
    actorOf(world.mailbox, { asserted, env, doors }).name;
  expect(who(undefined, inside)).toBe('bob');
  expect(who('bob', inside)).toBe('bob');
  expect(await codeOf(() => who('alice', inside))).toBe('actor_conflicts_with_terminal');
  expect(who(undefined, { OSTLER_AGENT_ID: 'agent', NORTH_SESSION: sessions.carol })).toBe('carol');
  // What the registry says now counts, over what the terminal's session was at its start.
  const moved = (sessionId: string, env: Record<string, string> = inside): string =>
    actorOf(world.mailbox, {
      asserted: undefined,
      env,
      terminal: { engine: 'north', sessionId },
      doors,
    }).name;
  expect(moved(sessions.carol)).toBe('carol');
  expect(await codeOf(() => moved('44444444-4444-4444-8444-444444444444'))).toBe(
    'peer_required_use_as_or_OSTLER_PEER',
  );
  expect(await codeOf(() => moved(sessions.carol, {}))).toBe('peer_required_use_as_or_OSTLER_PEER');
  // Without the terminal's own sign these are nobody's words.
  const { OSTLER_AGENT_ID: _agent, ...outside } = inside;
  expect(await codeOf(() => who(undefined, outside))).toBe('peer_required_use_as_or_OSTLER_PEER');
});
