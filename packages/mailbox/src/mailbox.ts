import type { IdentityEvidence, MailDoor } from '@ostler/engines/doors';
import { type Clock, CodedError, type Ids, randomIds, systemClock } from '@ostler/runtime';
import { checkUuid, checkWaitSeconds } from './checked-input.js';
import { CommitWatch } from './commit-watch.js';
import { addressOf, DoorNotifier } from './door-notifier.js';
import { mailError } from './mail-error.js';
import { MailFile } from './mail-file.js';
import { Messages, type Saved } from './messages.js';
import { Notifications } from './notifications.js';
import type { Notifier } from './notifier.js';
import { type NewPeer, Peers } from './peers.js';
import type { MailMessage, Peer } from './rows.js';
import { findOwned, type OwnedTerminals, TerminalNotifier } from './terminal-notifier.js';

export interface MailboxOptions {
  /** The shared file; made, with its directories, where it isn't there. */
  readonly path: string;
  /** How the engines are told; an engine without a door has no peers. */
  readonly doors: readonly MailDoor[];
  /** Sessions in terminals that Ostler owns. */
  readonly terminals?: OwnedTerminals | undefined;
  /** Instead of `doors` and `terminals`, for notifying. */
  readonly notifier?: Notifier;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** How long a write waits for another program's. Default 10 s. */
  readonly busyWaitMs?: number;
}

export interface SendOptions {
  /** A UUID of the caller's: the same id with the same content is the same message. */
  readonly id?: string | undefined;
  /** False: saved for the inbox alone. */
  readonly notify?: boolean;
  /** Called once the message is on the disk, before any client is touched. */
  readonly onSaved?: (message: MailMessage) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface Sent extends Saved {
  /** This call made the one attempt to notify. */
  readonly attempted: boolean;
}

export interface Waited {
  readonly message: MailMessage;
  readonly ended: 'reply' | 'timeout';
}

/**
 * Durable request and reply between agent sessions, in one file that several programs share.
 * A message is on the disk before any client is touched; its notification is a pointer and is
 * attempted at most once, ever. Reading changes nothing. What is refused throws a CodedError
 * with a code of `mailErrorMeanings`, and changed nothing.
 */
export class Mailbox implements Disposable {
  readonly path: string;
  readonly #clock: Clock;
  readonly #doors: readonly MailDoor[];
  readonly #terminals: OwnedTerminals | undefined;
  readonly #file: MailFile;
  readonly #peers: Peers;
  readonly #messages: Messages;
  readonly #notifications: Notifications;

  constructor(options: MailboxOptions) {
    const { busyWaitMs, clock = systemClock, doors, ids = randomIds, terminals } = options;
    this.#clock = clock;
    this.#doors = doors;
    this.#terminals = terminals;
    this.#file = new MailFile({ path: options.path, clock, ids, busyWaitMs });
    this.path = this.#file.path;
    this.#peers = new Peers(this.#file);
    this.#messages = new Messages(this.#file, this.#peers, ids);
    this.#notifications = new Notifications({
      file: this.#file,
      peers: this.#peers,
      messages: this.#messages,
      notifier: options.notifier ?? notifierFor(doors, terminals),
    });
  }

  /** Registers an address, which is then immutable; the same again changes nothing. */
  addPeer(peer: NewPeer): Peer {
    const door = this.#doors.find(({ engine }) => engine === peer.harness);
    if (door === undefined) {
      const known = this.#doors.map(({ engine }) => engine).join(', ');
      throw mailError('unsupported_harness', `the engine must be one of: ${known}`);
    }
    if (peer.socket !== undefined && door.socketRefusal !== null) {
      throw new CodedError(door.socketRefusal, `a ${peer.harness} peer takes no socket`);
    }
    return this.#peers.add(peer);
  }

  peer(name: string): Peer {
    return this.#peers.get(name);
  }

  /** The peer of a session, or null. */
  peerOfSession(harness: string, sessionId: string): Peer | null {
    return this.#peers.ofSession(harness, sessionId);
  }

  /** By name. */
  peers(): readonly Peer[] {
    return this.#peers.list();
  }

  /** Looks at what shows that the session is the one registered, and sends nothing. */
  async checkPeer(name: string, signal?: AbortSignal): Promise<IdentityEvidence> {
    const peer = this.#peers.get(name);
    const owned = this.#terminals ? await findOwned(this.#terminals, peer) : null;
    if (owned !== null) {
      const { agentId, version } = owned;
      const evidence = {
        harness: peer.harness,
        session_id: peer.session_id,
        workspace: peer.workspace,
        transport: 'ostler_turn_send',
        agent_id: agentId,
        ...(version === null ? {} : { version }),
      };
      return { kind: 'found', evidence };
    }
    const door = this.#doors.find(({ engine }) => engine === peer.harness);
    if (door === undefined) throw mailError('unsupported_harness');
    return await door.checkIdentity(addressOf(peer), signal);
  }

  /** Saves a request, then notifies its recipient once. */
  async send(
    sender: string,
    recipient: string,
    body: string,
    options: SendOptions = {},
  ): Promise<Sent> {
    return await this.#deliver(
      this.#messages.request(sender, recipient, body, options.id),
      options,
    );
  }

  /** Answers a request, once; the same text again is the same answer. */
  async reply(
    actor: string,
    requestId: string,
    body: string,
    options: Omit<SendOptions, 'id'> = {},
  ): Promise<Sent> {
    return await this.#deliver(this.#messages.reply(actor, checkUuid(requestId), body), options);
  }

  show(actor: string, messageId: string): MailMessage {
    return this.#messages.show(checkUuid(messageId), actor);
  }

  ack(actor: string, messageId: string): MailMessage {
    return this.#messages.ack(checkUuid(messageId), actor);
  }

  inbox(actor: string): readonly MailMessage[] {
    return this.#messages.inbox(actor);
  }

  sent(actor: string): readonly MailMessage[] {
    return this.#messages.sent(actor);
  }

  /**
   * Waits for the answer to a request of `actor`'s, 0 to 45 seconds; sends nothing. Woken by
   * the commit of the answer, in whatever process. Rejects with the signal's reason.
   */
  async wait(
    actor: string,
    messageId: string,
    seconds: number,
    signal?: AbortSignal,
  ): Promise<Waited> {
    checkWaitSeconds(seconds);
    const id = checkUuid(messageId);
    const request = this.#messages.show(id, actor);
    if (request.sender !== actor || request.in_reply_to !== null) {
      throw mailError('wait_requires_own_request');
    }
    const untilMs = this.#clock.monotonicMs() + seconds * 1000;
    if (request.reply !== null) return { message: request, ended: 'reply' };
    using commits = new CommitWatch(this.path, this.#clock);
    for (;;) {
      if (this.#messages.answerTo(id) !== null) {
        return { message: this.#messages.show(id, actor), ended: 'reply' };
      }
      const leftMs = untilMs - this.#clock.monotonicMs();
      if (leftMs <= 0) return { message: this.#messages.show(id, actor), ended: 'timeout' };
      await commits.next(leftMs, signal);
    }
  }

  /** Closes the file. Idempotent. */
  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  async #deliver(saved: Saved, options: SendOptions): Promise<Sent> {
    options.onSaved?.(saved.message);
    if (!saved.created || options.notify === false) return { ...saved, attempted: false };
    const attempted = await this.#notifications.once(saved.message.id, options.signal);
    return { message: this.#messages.get(saved.message.id), created: true, attempted };
  }
}

function notifierFor(doors: readonly MailDoor[], terminals: OwnedTerminals | undefined): Notifier {
  const byDoor = new DoorNotifier(doors);
  return terminals === undefined ? byDoor : new TerminalNotifier(terminals, byDoor);
}
