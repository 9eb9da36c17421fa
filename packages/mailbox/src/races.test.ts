import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomIds } from '@ostler/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, type Program } from './testing/build-program.js';
import { atOnce, start } from './testing/other-processes.js';
import { type TestMailbox, testMailbox } from './testing/test-mailbox.js';

const id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const writersCount = 32;

let program: Program;

beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => program[Symbol.dispose]());

function many<Value>(make: (index: number) => Value): Value[] {
  return Array.from({ length: writersCount }, (_, index) => make(index));
}

function notified(world: TestMailbox): readonly string[] {
  return readFileSync(join(world.dir, 'notified'), 'utf8').split('\n').slice(0, -1);
}

const logOf = (world: TestMailbox): Record<string, string> => ({
  NOTIFIED: join(world.dir, 'notified'),
});

test('32 processes, one id, one content: one message, one notification', {
  timeout: 60_000,
}, async () => {
  using world = testMailbox();
  const said = await atOnce(
    program.path,
    many(() => ['send', world.path, 'alice', 'bob', id, 'the same']),
    logOf(world),
  );
  expect(said.filter(({ created }) => created === true)).toHaveLength(1);
  expect(said.filter(({ attempted }) => attempted === true)).toHaveLength(1);
  expect(notified(world)).toEqual([id]);
  expect(world.mailbox.sent('alice')).toMatchObject([{ id, seq: 1, submission: 'submitted' }]);
});

test('32 processes, one id, 32 contents: one is saved, the others are told', {
  timeout: 60_000,
}, async () => {
  using world = testMailbox();
  const said = await atOnce(
    program.path,
    many((index) => ['send', world.path, 'alice', 'bob', id, `content ${index}`]),
    logOf(world),
  );
  expect(said.filter(({ created }) => created === true)).toHaveLength(1);
  expect(said.filter(({ code }) => code === 'message_id_conflict')).toHaveLength(31);
  expect(notified(world)).toEqual([id]);
});

test('32 processes, 32 ids: all are saved, each with a number of its own', {
  timeout: 60_000,
}, async () => {
  using world = testMailbox();
  const ids = many(() => randomIds.uuid());
  await atOnce(
    program.path,
    ids.map((own) => ['send', world.path, 'alice', 'bob', own, own]),
    logOf(world),
  );
  const inbox = world.mailbox.inbox('bob');
  expect(inbox.map(({ seq }) => seq)).toEqual(many((index) => index + 1));
  expect(inbox.map((mail) => mail.id).sort()).toEqual([...ids].sort());
  expect([...notified(world)].sort()).toEqual([...ids].sort());
});

test('answers at once: one stays, whoever was first; the same text is the same answer', {
  timeout: 60_000,
}, async () => {
  using world = testMailbox();
  await world.mailbox.send('alice', 'bob', 'question', { id, notify: false });
  const said = await atOnce(
    program.path,
    many((index) => ['reply', world.path, 'bob', id, index % 2 === 0 ? 'even' : 'odd']),
    logOf(world),
  );
  const reply = world.mailbox.show('alice', id).reply;
  const kept = said.filter(({ code }) => code === undefined);
  expect(kept).toHaveLength(16);
  for (const { message } of kept) expect(message).toMatchObject({ id: reply?.id });
  expect(kept.filter(({ created }) => created === true)).toHaveLength(1);
  expect(
    said.filter(({ code }) => code === 'reply_conflict_existing_answer_preserved'),
  ).toHaveLength(16);
  expect(notified(world)).toEqual([reply?.id]);
});

test('acknowledgements at once: one time, which all are told', { timeout: 60_000 }, async () => {
  using world = testMailbox();
  await world.mailbox.send('alice', 'bob', 'question', { id, notify: false });
  const said = await atOnce(
    program.path,
    many(() => ['ack', world.path, 'bob', id]),
  );
  const { ack_at: first } = world.mailbox.show('bob', id);
  expect(first).not.toBeNull();
  for (const { message } of said) expect(message).toMatchObject({ ack_at: first });
});

test('the one notification is claimed by one process of several', { timeout: 60_000 }, async () => {
  using world = testMailbox();
  const ids = many(() => randomIds.uuid());
  for (const own of ids) {
    await world.mailbox.send('alice', 'bob', own, { id: own, notify: false });
  }
  const said = await atOnce(
    program.path,
    Array.from({ length: 4 }, () => ['claim', world.path]),
    logOf(world),
  );
  expect(said.reduce((sum, { made }) => sum + Number(made), 0)).toBe(writersCount);
  expect([...notified(world)].sort()).toEqual([...ids].sort());
});

test('one name and one session, registered by many processes at once', {
  timeout: 60_000,
}, async () => {
  using world = testMailbox();
  const dir = (index: number): string => {
    const path = join(world.dir, `w${index}`);
    mkdirSync(path);
    return path;
  };
  const session = randomIds.uuid();
  const said = await atOnce(
    program.path,
    many((index) => ['peer', world.path, `name-${index % 2}`, session, dir(index)]),
  );
  expect(said.filter(({ code }) => code === undefined)).toHaveLength(1);
  expect(world.mailbox.peers().filter((peer) => peer.session_id === session)).toHaveLength(1);
});

test('many processes make one file that is whole', { timeout: 60_000 }, async () => {
  using world = testMailbox();
  const path = join(world.dir, 'fresh', 'deep', 'mail.sqlite3');
  const said = await atOnce(
    program.path,
    many((index) => ['peer', path, `peer-${index}`, randomIds.uuid(), world.dir]),
  );
  expect(said.map(({ code }) => code)).toEqual(many(() => undefined));
});

test('a wait in another process ends with the answer', { timeout: 60_000 }, async () => {
  using world = testMailbox();
  await world.mailbox.send('alice', 'bob', 'question', { id, notify: false });
  const waiter = start(program.path, ['wait', world.path, 'alice', id, '45']);
  await waiter.ready;
  waiter.go();
  await world.mailbox.reply('bob', id, 'answer', { notify: false });
  const { said } = await waiter.ended;
  expect(said.at(-1)).toMatchObject({ ended: 'reply', message: { reply: { body: 'answer' } } });
});
