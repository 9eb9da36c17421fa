import { randomIds, VirtualClock } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { codeOf, testMailbox } from './testing/test-mailbox.js';

const id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';

test('a message is on the disk before any client is touched', async () => {
  using world = testMailbox();
  const seen: unknown[] = [];
  world.notifier.during = () => {
    using other = world.again();
    seen.push(other.inbox('bob').map(({ body, submission }) => ({ body, submission })));
  };
  await world.mailbox.send('alice', 'bob', 'first');
  expect(seen).toEqual([[{ body: 'first', submission: 'submission_unknown' }]]);
});

test('every field is stored, times as seconds', async () => {
  const clock = new VirtualClock(1_800_000_000_500);
  using world = testMailbox(clock);
  const { message } = await world.mailbox.send('alice', 'bob', 'ä 😀\n', { id });
  expect(message).toEqual({
    seq: 1,
    id,
    sender: 'alice',
    recipient: 'bob',
    in_reply_to: null,
    body: 'ä 😀\n',
    created_at: 1_800_000_000.5,
    ack_at: null,
    submission: 'submitted',
    notification_started_at: 1_800_000_000.5,
    notification_finished_at: 1_800_000_000.5,
    notification_detail: 'noted',
    reply: null,
    state: 'saved',
  });
});

test('a body is 1 to 32,000 bytes of UTF-8 and not blank', async () => {
  using world = testMailbox();
  const send = (body: string): Promise<string> =>
    codeOf(() => world.mailbox.send('alice', 'bob', body));
  const length = 'message_must_be_1_to_32000_bytes';
  for (const body of [
    '',
    ' ',
    '\n\t\r\n',
    '\u00a0\u2003',
    'x'.repeat(32_001),
    'ä'.repeat(16_001),
  ]) {
    expect(await send(body)).toBe(length);
  }
  expect(await send('\ud800')).toBe('message_must_be_text');
  expect(world.mailbox.sent('alice')).toEqual([]);
  expect(await send('x'.repeat(32_000))).toBe('nothing was refused');
  expect(await send('ä'.repeat(16_000))).toBe('nothing was refused');
  expect(await send('x')).toBe('nothing was refused');
  expect(await send('a\0b \u001b[2J')).toBe('nothing was refused');
  expect(world.mailbox.inbox('bob').at(-1)?.body).toBe('a\0b \u001b[2J');
});

test('the same id with the same content is the saved message, without a second notification', async () => {
  using world = testMailbox();
  const first = await world.mailbox.send('alice', 'bob', 'one', { id });
  const again = await world.mailbox.send('alice', 'bob', 'one', { id: id.toUpperCase() });
  expect(again).toEqual({ message: first.message, created: false, attempted: false });
  expect(world.notifier.seen).toHaveLength(1);
});

test('the same id with other content is a conflict, and the first is kept', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  const { message } = await mailbox.send('alice', 'bob', 'one', { id });
  const { message: answer } = await mailbox.reply('bob', id, 'yes');
  const conflict = 'message_id_conflict';
  expect(await codeOf(() => mailbox.send('alice', 'bob', 'two', { id }))).toBe(conflict);
  expect(await codeOf(() => mailbox.send('alice', 'carol', 'one', { id }))).toBe(conflict);
  expect(await codeOf(() => mailbox.send('carol', 'bob', 'one', { id }))).toBe(conflict);
  // An answer's id can't become a request's.
  const taken = { id: answer.id };
  expect(await codeOf(() => mailbox.send('bob', 'alice', 'yes', taken))).toBe(conflict);
  expect(mailbox.show('alice', id).body).toBe(message.body);
  expect(world.notifier.seen).toHaveLength(2);
});

test('a caller’s id is a UUID; nobody writes to themselves', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  expect(await codeOf(() => mailbox.send('alice', 'bob', 'x', { id: 'x' }))).toBe('invalid_uuid');
  expect(await codeOf(() => mailbox.send('alice', 'alice', 'x'))).toBe(
    'sender_and_recipient_must_differ',
  );
});

test('seq rises with every message, requests and answers alike', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  const seqs: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { message } = await mailbox.send('alice', 'bob', `q${round}`);
    seqs.push(message.seq, (await mailbox.reply('bob', message.id, `a${round}`)).message.seq);
  }
  expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a reply goes to the sender of exactly its request, once', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  await mailbox.send('alice', 'bob', 'question', { id });
  const first = await mailbox.reply('bob', id, 'answer');
  expect(first.message).toMatchObject({
    sender: 'bob',
    recipient: 'alice',
    in_reply_to: id,
    submission: 'submitted',
  });
  const again = await mailbox.reply('bob', id, 'answer');
  expect(again).toEqual({ message: first.message, created: false, attempted: false });
  expect(await codeOf(() => mailbox.reply('bob', id, 'another'))).toBe(
    'reply_conflict_existing_answer_preserved',
  );
  expect(mailbox.show('alice', id).reply?.body).toBe('answer');
  expect(world.notifier.seen.map(({ messageId }) => messageId)).toEqual([id, first.message.id]);
});

test('a reply by another party, to a reply, or to nothing is refused', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  await mailbox.send('alice', 'bob', 'question', { id });
  for (const actor of ['alice', 'carol']) {
    expect(await codeOf(() => mailbox.reply(actor, id, 'x'))).toBe('reply_address_mismatch');
  }
  const { message } = await mailbox.reply('bob', id, 'answer');
  for (const actor of ['alice', 'bob', 'carol']) {
    expect(await codeOf(() => mailbox.reply(actor, message.id, 'x'))).toBe(
      'reply_requires_a_request',
    );
  }
  expect(await codeOf(() => mailbox.reply('bob', randomIds.uuid(), 'x'))).toBe('unknown_request');
  expect(await codeOf(() => mailbox.reply('bob', 'x', 'x'))).toBe('invalid_uuid');
  expect(await codeOf(() => mailbox.reply('bob', id, ' '))).toBe(
    'message_must_be_1_to_32000_bytes',
  );
});

test('only the recipient acknowledges, and the first time is kept', async () => {
  const clock = new VirtualClock();
  using world = testMailbox(clock);
  const { mailbox } = world;
  await mailbox.send('alice', 'bob', 'question', { id });
  for (const actor of ['alice', 'carol']) {
    expect(await codeOf(() => mailbox.ack(actor, id))).toBe('only_recipient_can_ack');
  }
  const { ack_at: first } = mailbox.ack('bob', id);
  expect(first).toBe(clock.nowMs() / 1000);
  clock.advance(1_000);
  expect(mailbox.ack('bob', id).ack_at).toBe(first);
  const none = randomIds.uuid();
  expect(await codeOf(() => mailbox.ack('bob', none))).toBe('only_recipient_can_ack');
});

test('an inbox has unanswered questions and unacknowledged answers; reading changes nothing', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  const ids = (actor: string): readonly string[] => mailbox.inbox(actor).map((mail) => mail.id);
  const ask = async (body: string): Promise<string> =>
    (await mailbox.send('alice', 'bob', body)).message.id;
  const first = await ask('1');
  const second = await ask('2');
  expect(ids('bob')).toEqual([first, second]);
  expect(ids('bob')).toEqual([first, second]);
  expect(ids('alice')).toEqual([]);
  // Acknowledged, a question stays until it is answered.
  mailbox.ack('bob', first);
  expect(ids('bob')).toEqual([first, second]);
  const answer = (await mailbox.reply('bob', first, 'yes')).message.id;
  expect(ids('bob')).toEqual([second]);
  expect(ids('alice')).toEqual([answer]);
  mailbox.show('alice', answer);
  expect(ids('alice')).toEqual([answer]);
  mailbox.ack('alice', answer);
  expect(ids('alice')).toEqual([]);
  expect(mailbox.sent('alice').map((mail) => mail.id)).toEqual([first, second]);
  expect(mailbox.sent('bob').map((mail) => mail.id)).toEqual([answer]);
});

test('show is for the two parties, with the answer', async () => {
  using world = testMailbox();
  const { mailbox } = world;
  await mailbox.send('alice', 'bob', 'question', { id });
  const { message } = await mailbox.reply('bob', id, 'answer');
  for (const shown of [id, message.id]) {
    expect(await codeOf(() => mailbox.show('carol', shown))).toBe('message_not_addressed_to_peer');
  }
  const shown = mailbox.show('bob', id);
  expect(shown).toMatchObject({ state: 'reply_received', reply: { body: 'answer' } });
  expect(mailbox.show('alice', message.id)).toMatchObject({ state: 'saved', reply: null });
  expect(await codeOf(() => mailbox.show('alice', randomIds.uuid()))).toBe('unknown_message');
});

test('an answer is an answer, whatever became of the notifications', async () => {
  using world = testMailbox();
  const { mailbox, notifier } = world;
  for (const submission of ['not_submitted', 'submission_unknown', 'submitted'] as const) {
    notifier.result = { submission, detail: 'told' };
    const { message } = await mailbox.send('alice', 'bob', 'question');
    await mailbox.reply('bob', message.id, 'answer');
    const shown = mailbox.show('alice', message.id);
    expect(shown).toMatchObject({ submission, state: 'reply_received', reply: { submission } });
  }
});
