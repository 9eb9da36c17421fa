import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MailDoor } from '@ostler/engines/doors';
import { type Clock, CodedError, randomIds, systemClock } from '@ostler/runtime';
import { Mailbox } from '../mailbox.js';
import type { Notification, Notifier, Submission } from '../notifier.js';

export function fakeDoor(engine: string, socketRefusal: string | null = null): MailDoor {
  return {
    engine,
    socketRefusal,
    checkIdentity: async (address) => ({
      kind: 'found',
      evidence: { session_id: address.sessionId },
    }),
    submit: async () => ({ submission: 'submitted', detail: 'fake' }),
    sessionOf(env) {
      const sessionId = env[`${engine.toUpperCase()}_SESSION`];
      return sessionId === undefined ? null : { sessionId, conflict: `actor_conflicts_${engine}` };
    },
  };
}

/** Takes notifications down, and answers what it is told to. */
export class NotedNotifier implements Notifier {
  readonly seen: Notification[] = [];
  result: Submission | Error = { submission: 'submitted', detail: 'noted' };
  during: () => void = () => undefined;

  async notify(notification: Notification): Promise<Submission> {
    this.seen.push(notification);
    this.during();
    if (this.result instanceof Error) throw this.result;
    return this.result;
  }
}

export interface TestMailbox extends Disposable {
  readonly dir: string;
  readonly path: string;
  readonly mailbox: Mailbox;
  readonly notifier: NotedNotifier;
  /** Another mailbox on the same file. */
  again(): Mailbox;
}

export const sessions = {
  alice: '11111111-1111-4111-8111-111111111111',
  bob: '22222222-2222-4222-8222-222222222222',
  carol: '33333333-3333-4333-8333-333333333333',
} as const;

/** A mailbox of its own with the peers alice, bob and carol. */
export function testMailbox(clock: Clock = systemClock): TestMailbox {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ostler-mailbox-')));
  const path = join(dir, 'mail', 'mail.sqlite3');
  const notifier = new NotedNotifier();
  const doors = [fakeDoor('north'), fakeDoor('south', 'south_takes_no_socket')];
  const opened: Mailbox[] = [];
  const again = (): Mailbox => {
    const mailbox = new Mailbox({ path, doors, notifier, clock, ids: randomIds });
    opened.push(mailbox);
    return mailbox;
  };
  const mailbox = again();
  for (const [name, sessionId] of Object.entries(sessions)) {
    const workspace = join(dir, name);
    mkdirSync(workspace);
    mailbox.addPeer({
      name,
      harness: name === 'bob' ? 'south' : 'north',
      sessionId,
      workspace,
    });
  }
  return {
    dir,
    path,
    mailbox,
    notifier,
    again,
    [Symbol.dispose]() {
      for (const one of opened) one[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The code a call is refused with. */
export async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (failure) {
    if (failure instanceof CodedError) return failure.code;
    throw failure;
  }
  return 'nothing was refused';
}
