import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomIds } from '@ostler/runtime';
import { openSharedFile } from '@ostler/store/sqlite';
import { systemClock } from '@ostler/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inspectShared, sharedSchema, sharedSchemaVersion } from './schema.js';
import { buildProgram, type Program } from './testing/build-program.js';
import { start, type Waiting } from './testing/other-processes.js';
import { nodeSpeaker, pythonSpeaker, type RawSpeaker } from './testing/raw-speakers.js';
import { type TestMailbox, testMailbox } from './testing/test-mailbox.js';

/*
 * One process speaks plain SQL of the shared tables, as the other program does; the other is
 * ours. OSTLER_MAIL_MESSAGES=10000 makes as many messages with each.
 */
const wanted = process.env['OSTLER_MAIL_MESSAGES'];
const speakers = [
  [nodeSpeaker, 'a Node program', Number(wanted ?? 10_000)],
  [pythonSpeaker, 'a Python program', Number(wanted ?? 1_000)],
] as const;

let program: Program;

beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => program[Symbol.dispose]());

const log = (world: TestMailbox): string => join(world.dir, 'notified');

interface MailRow {
  readonly seq: number;
  readonly id: string;
  readonly sender: string;
  readonly in_reply_to: string | null;
  readonly body: string;
  readonly ack_at: number | null;
  readonly notification_started_at: number | null;
}

function allRows(path: string): readonly MailRow[] {
  using file = openSharedFile({
    path,
    clock: systemClock,
    schema: sharedSchema,
    schemaVersion: sharedSchemaVersion,
    inspect: inspectShared,
  });
  expect(file.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  expect(file.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
  return file.prepare('SELECT * FROM messages ORDER BY seq').all() as unknown as MailRow[];
}

async function exchanged(speaker: RawSpeaker, messagesCount: number): Promise<void> {
  const eachAsks = messagesCount / 4;
  using world = testMailbox();
  const env = { NOTIFIED: log(world) };
  const count = String(eachAsks);
  const ours = start(program.path, ['exchange', world.path, 'alice', 'bob', count], env);
  const theirs = speaker.start(program, ['exchange', world.path, 'bob', 'alice', count], env);
  // One without the other would wait for it for ever.
  const endOther = async (one: Waiting, other: Waiting): Promise<readonly unknown[]> => {
    const { said } = await one.ended;
    if (said.length === 0) other.child.kill('SIGKILL');
    return said;
  };
  const [one, other] = await Promise.all([endOther(ours, theirs), endOther(theirs, ours)]);
  const done = { asked: eachAsks, answered: eachAsks, acknowledged: eachAsks };
  expect([one, other]).toEqual([[done], [done]]);

  const rows = allRows(world.path);
  expect(rows).toHaveLength(messagesCount);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  for (const [asker, answerer] of [
    ['alice', 'bob'],
    ['bob', 'alice'],
  ] as const) {
    const asked = rows.filter((row) => row.sender === asker && row.in_reply_to === null);
    // In the order they were sent in, none missing, none twice.
    expect(asked.map(({ body }) => body)).toEqual(
      Array.from({ length: eachAsks }, (_, index) => `${asker} asks ${index}`),
    );
    const answers = new Map(
      rows.flatMap((row) => (row.in_reply_to === null ? [] : [[row.in_reply_to, row]])),
    );
    for (const question of asked) {
      const answer = answers.get(question.id);
      expect(answer?.body).toBe(`${answerer} answers: ${question.body}`);
      expect(answer?.ack_at).not.toBeNull();
      expect(answer?.seq).toBeGreaterThan(question.seq);
    }
  }
  const claimed = rows.filter((row) => row.notification_started_at !== null).map(({ id }) => id);
  const sent = readFileSync(log(world), 'utf8').split('\n').slice(0, -1);
  expect(sent).toEqual(claimed);
  expect(claimed).toHaveLength(Math.ceil(eachAsks / 7));
  expect(world.mailbox.inbox('alice')).toEqual([]);
  expect(world.mailbox.inbox('bob')).toEqual([]);
}

async function claimed(speaker: RawSpeaker): Promise<void> {
  using world = testMailbox();
  const ids: string[] = [];
  for (let index = 0; index < 100; index += 1) {
    const id = randomIds.uuid();
    await world.mailbox.send('alice', 'bob', id, { id, notify: false });
    if (index % 3 === 0) world.mailbox.ack('bob', id);
    if (index % 5 === 0) await world.mailbox.reply('bob', id, 'yes', { notify: false });
    else ids.push(id);
  }
  const see = speaker.start(program, ['inbox', world.path, 'bob']);
  expect((await see.ended).said).toEqual([ids]);
  expect(world.mailbox.inbox('bob').map(({ id }) => id)).toEqual(ids);

  const env = { NOTIFIED: log(world) };
  const claimers = [
    start(program.path, ['claim', world.path], env),
    speaker.start(program, ['claim', world.path], env),
    start(program.path, ['claim', world.path], env),
    speaker.start(program, ['claim', world.path], env),
  ];
  await Promise.all(claimers.map(({ ready }) => ready));
  for (const claimer of claimers) claimer.go();
  await Promise.all(claimers.map(({ ended }) => ended));
  const all = allRows(world.path).map(({ id }) => id);
  const sent = readFileSync(log(world), 'utf8').split('\n').slice(0, -1);
  expect([...sent].sort()).toEqual([...all].sort());
}

for (const [speaker, name, messagesCount] of speakers) {
  describe.skipIf(speaker === null)(`beside ${name} that speaks plain SQL`, () => {
    test(`${messagesCount} messages: nothing lost, doubled or out of order`, {
      timeout: 60_000 + messagesCount * 60,
    }, async () => {
      if (speaker !== null) await exchanged(speaker, messagesCount);
    });

    test('one claim for each message, whichever program is first; both see one inbox', {
      timeout: 60_000,
    }, async () => {
      if (speaker !== null) await claimed(speaker);
    });
  });
}

test('a wait of ours ends with an answer that a program in plain SQL commits', {
  timeout: 60_000,
}, async () => {
  using world = testMailbox();
  const { message } = await world.mailbox.send('alice', 'bob', 'question', { notify: false });
  const answerer = nodeSpeaker.start(program, ['reply', world.path, 'bob', message.id, 'answer']);
  await answerer.ready;
  const waiting = world.mailbox.wait('alice', message.id, 45);
  answerer.go();
  expect(await waiting).toMatchObject({ ended: 'reply', message: { reply: { body: 'answer' } } });
  expect((await answerer.ended).said).toEqual([{ done: true }]);
});
