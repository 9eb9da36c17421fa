import type { MailMessage, StoredMessage } from '@ostler/mailbox';
import { expect, test } from 'vitest';
import { plain, type StyleText } from './style.js';
import { timeline } from './timeline.js';

const atSeconds = 1_800_000_000;
const request: StoredMessage = {
  seq: 1,
  id: 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  sender: 'alice',
  recipient: 'bob',
  in_reply_to: null,
  body: 'One line.\r\nAnother.',
  created_at: atSeconds,
  ack_at: atSeconds + 60,
  submission: 'submitted',
  notification_started_at: atSeconds + 1,
  notification_finished_at: atSeconds + 2,
  notification_detail: 'codex_cli_queued:1',
};
const reply: StoredMessage = {
  ...request,
  seq: 2,
  id: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
  sender: 'bob',
  recipient: 'alice',
  in_reply_to: request.id,
  body: 'Yes.',
  created_at: atSeconds + 90,
  submission: 'submission_unknown',
  notification_started_at: atSeconds + 91,
  notification_detail: null,
  ack_at: atSeconds + 120,
};

test('a conversation, from the question to the acknowledged answer', () => {
  const message: MailMessage = { ...request, reply, state: 'reply_received' };
  expect(timeline(message, plain)).toEqual([
    'request aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
    '●  2027-01-15 08:00:00Z alice asks bob',
    '│  One line.',
    '│  Another.',
    '├─ 2027-01-15 08:00:01Z notification submitted (codex_cli_queued:1)',
    '├─ 2027-01-15 08:01:00Z acknowledged by bob',
    '●  2027-01-15 08:01:30Z bob answers alice',
    '│  Yes.',
    '├─ 2027-01-15 08:01:31Z notification in doubt',
    '╰─ 2027-01-15 08:02:00Z acknowledged by alice',
  ]);
});

test('a question without an answer says so; what was not submitted is not called in doubt', () => {
  const message: MailMessage = {
    ...request,
    ack_at: null,
    submission: 'not_submitted',
    notification_detail: 'recipient_unavailable',
    reply: null,
    state: 'saved',
  };
  const lines = timeline(message, plain);
  expect(lines.at(-2)).toContain('notification not submitted (recipient_unavailable)');
  expect(lines.at(-1)).toBe('╰─ no answer yet');
});

test("nothing of a peer's text reaches the terminal as a control", () => {
  const marked: StyleText = (style, text) => `<${style}>${text}</>`;
  const body = 'a\u001b]0;title\u0007b\u009bc\u202ed\te';
  const lines = timeline({ ...request, body, reply: null, state: 'saved' }, marked);
  expect(lines[2]).toBe('│  a\\u{1b}]0;title\\u{7}b\\u{9b}c\\u{202e}d\te');
  expect(lines.at(-1)).toBe('╰─ <yellow>no answer yet</>');
});
