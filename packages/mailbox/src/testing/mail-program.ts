/*
 * The other process. Speaks on stdout in lines, each said by a write that is done when it
 * returns; starts its work at a line on stdin, so that many start at one moment.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Clock, CodedError, type Ids, randomIds, systemClock } from '@ostler/runtime';
import { MailFile } from '../mail-file.js';
import { Mailbox } from '../mailbox.js';
import { Messages } from '../messages.js';
import { Notifications } from '../notifications.js';
import type { Notifier } from '../notifier.js';
import { Peers } from '../peers.js';
import { fakeDoor } from './test-mailbox.js';

const [mode = '', path = '', ...words] = process.argv.slice(2);
const word = (index: number): string => words[index] ?? '';

/** Where the process dies: at the n-th moment it passes; never where it isn't set. */
const dieAt = Number(process.env['DIE_AT'] ?? -1);
let passed = 0;
function pass(): void {
  if (passed === dieAt) process.kill(process.pid, 'SIGKILL');
  passed += 1;
}

function say(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

/** The clock is read inside each transaction and after each commit: so many places to die at. */
const clock: Clock = {
  ...systemClock,
  nowMs() {
    pass();
    return systemClock.nowMs();
  },
};
const ids: Ids = {
  uuid() {
    pass();
    return randomIds.uuid();
  },
};

/** Its transport is a line in a file, on the disk when it returns. */
const notifier: Notifier = {
  async notify({ messageId }) {
    pass();
    appendFileSync(process.env['NOTIFIED'] ?? '/dev/null', `${messageId}\n`, { flush: true });
    pass();
    return { submission: 'submitted', detail: 'written' };
  },
};

function open(): Mailbox {
  const doors = [fakeDoor('north'), fakeDoor('south')];
  return new Mailbox({ path, doors, notifier, clock, ids, busyWaitMs: 60_000 });
}

async function onGo(): Promise<void> {
  say('ready');
  const lines = createInterface({ input: process.stdin });
  for await (const _line of lines) break;
  lines.close();
}

async function act(mailbox: Mailbox): Promise<unknown> {
  const onSaved = (): void => say('saved');
  switch (mode) {
    case 'send':
      return await mailbox.send(word(0), word(1), word(3), { id: word(2), onSaved });
    case 'reply':
      return await mailbox.reply(word(0), word(1), word(2), { onSaved });
    case 'ack':
      return { message: mailbox.ack(word(0), word(1)) };
    case 'wait':
      return await mailbox.wait(word(0), word(1), Number(word(2)));
    case 'claim': {
      const file = new MailFile({ path, clock, ids, busyWaitMs: 60_000 });
      const peers = new Peers(file);
      const messages = new Messages(file, peers, ids);
      const notifications = new Notifications({ file, peers, messages, notifier });
      let made = 0;
      for (const { id } of file.prepare('SELECT id FROM messages ORDER BY seq').all()) {
        if (await notifications.once(String(id))) made += 1;
      }
      return { made };
    }
    case 'peer':
      return mailbox.addPeer({
        name: word(0),
        harness: 'north',
        sessionId: word(1),
        workspace: word(2),
      });
    default:
      throw new Error(`no mode ${mode}`);
  }
}

/**
 * Asks `count` questions of `other`, answers and acknowledges all that comes in, until both are
 * done with `count` each.
 */
async function exchange(me: string, other: string, count: number): Promise<void> {
  using mailbox = open();
  let asked = 0;
  let answered = 0;
  let acknowledged = 0;
  while (asked < count || answered < count || acknowledged < count) {
    if (asked < count) {
      await mailbox.send(me, other, `${me} asks ${asked}`, { notify: asked % 7 === 0 });
      asked += 1;
    }
    for (const message of mailbox.inbox(me).slice(0, 8)) {
      if (message.in_reply_to === null) {
        await mailbox.reply(me, message.id, `${me} answers: ${message.body}`, { notify: false });
        answered += 1;
      } else {
        mailbox.ack(me, message.id);
        acknowledged += 1;
      }
    }
  }
  say({ asked, answered, acknowledged });
}

if (mode === 'exchange') {
  await exchange(word(0), word(1), Number(word(2)));
} else {
  await onGo();
  try {
    using mailbox = open();
    say(await act(mailbox));
  } catch (failure) {
    if (!(failure instanceof CodedError)) throw failure;
    say({ code: failure.code });
  }
}
