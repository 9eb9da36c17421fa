// The other process of the mailbox's measurements: waits for answers, and says when it is awake.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Mailbox } from '@ostler/mailbox';
import { mailDoors } from '../cli/mail/verbs.js';

const [, , path = '', actor = ''] = process.argv;
const longestSeconds = 45;

using mailbox = new Mailbox({ path, doors: mailDoors(process.env) });
for await (const id of createInterface({ input: process.stdin })) {
  const waiting = mailbox.wait(actor, id, longestSeconds);
  writeSync(1, 'waiting\n');
  const { ended } = await waiting;
  writeSync(1, `${ended}\n`);
}
