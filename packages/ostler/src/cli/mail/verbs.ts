import {
  ClaudeMailDoor,
  CodexMailDoor,
  type Environment,
  type MailDoor,
} from '@ostler/engines/doors';
import {
  actorOf,
  checkWaitSeconds,
  Mailbox,
  type MailMessage,
  type Sent,
  type TerminalSession,
} from '@ostler/mailbox';
import { CodedError, isCoded } from '@ostler/runtime';
import { readForeignDatabase } from '@ostler/store/sqlite';
import type { DaemonTerminals } from './daemon-terminals.js';
import { type Guided, guided } from './recovery.js';

export interface MailVerbsOptions {
  readonly path: string;
  /** The speaker's assertion; who speaks is told at each call. */
  readonly asserted: string | undefined;
  readonly env: Environment;
  readonly terminals: DaemonTerminals;
}

export interface Post {
  readonly body: string;
  readonly notify: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onSaved?: (message: MailMessage) => void;
}

export interface Posted extends Guided {
  readonly created: boolean;
  readonly wait_ended?: 'timeout';
  /** Why the daemon could not be asked for the recipient's terminal, where it could not. */
  readonly daemon?: string;
}

/** How each engine is told that there is mail, by the environment of this process. */
export function mailDoors(env: Environment): readonly MailDoor[] {
  return [
    new ClaudeMailDoor({ env }),
    new CodexMailDoor({ env, foreignRows: readForeignDatabase }),
  ];
}

/** What the command line and the MCP server both do, with the documents they answer. */
export class MailVerbs implements Disposable {
  readonly mailbox: Mailbox;
  readonly #options: MailVerbsOptions;
  readonly #doors: readonly MailDoor[];

  constructor(options: MailVerbsOptions) {
    this.#options = options;
    this.#doors = mailDoors(options.env);
    this.mailbox = new Mailbox({
      path: options.path,
      doors: this.#doors,
      terminals: options.terminals,
    });
  }

  /** Throws CodedError where it isn't known who speaks. */
  async actor(): Promise<string> {
    const { asserted, env } = this.#options;
    const terminal = await this.#terminalSession();
    return actorOf(this.mailbox, { asserted, env, terminal, doors: this.#doors }).name;
  }

  addPeer(peer: {
    name: string;
    engine: string;
    session: string;
    workspace: string;
    socket?: string | undefined;
  }): object {
    const { engine, name, session, socket, workspace } = peer;
    return this.mailbox.addPeer({ name, harness: engine, sessionId: session, workspace, socket });
  }

  /** Throws CodedError with the reason where the identity can't be shown. */
  async checkPeer(name: string, signal?: AbortSignal): Promise<object> {
    const found = await this.mailbox.checkPeer(name, signal);
    const { unasked } = this.#options.terminals;
    if (found.kind === 'found') {
      return { ...found.evidence, ...(unasked === null ? {} : { daemon: unasked.code }) };
    }
    if (unasked === null) throw new CodedError(found.reason, found.message);
    throw new CodedError(found.reason, `${found.message}; and ${unasked.message}`, {
      details: { daemon: unasked.code },
    });
  }

  peers(): object {
    return { peers: this.mailbox.peers() };
  }

  async send(
    recipient: string,
    post: Post & { id?: string | undefined; waitSeconds: number },
  ): Promise<{ document: Posted; confirmed: boolean }> {
    const actor = await this.actor();
    const { body, id, waitSeconds, ...options } = post;
    // Before anything is saved: what is refused changed nothing.
    checkWaitSeconds(waitSeconds);
    const sent = await this.mailbox.send(actor, recipient, body, { id, ...options });
    const { signal } = options;
    const waited =
      waitSeconds === 0
        ? { message: sent.message, ended: 'reply' as const }
        : await this.mailbox.wait(actor, sent.message.id, waitSeconds, signal);
    return this.#posted(sent, waited, actor);
  }

  async reply(requestId: string, post: Post): Promise<{ document: Posted; confirmed: boolean }> {
    const actor = await this.actor();
    const { body, ...options } = post;
    const sent = await this.mailbox.reply(actor, requestId, body, options);
    return this.#posted(sent, { message: sent.message, ended: 'reply' }, actor);
  }

  async wait(messageId: string, seconds: number, signal?: AbortSignal): Promise<object> {
    const actor = await this.actor();
    const { ended, message } = await this.mailbox.wait(actor, messageId, seconds, signal);
    return {
      ...this.#guide(message, actor),
      ...(ended === 'timeout' ? { wait_ended: ended } : {}),
    };
  }

  async show(messageId: string): Promise<Guided> {
    const actor = await this.actor();
    return this.#guide(this.mailbox.show(actor, messageId), actor);
  }

  /** The request a message belongs to, with its answer. */
  async thread(messageId: string): Promise<Guided> {
    const actor = await this.actor();
    const message = this.mailbox.show(actor, messageId);
    const request =
      message.in_reply_to === null ? message : this.mailbox.show(actor, message.in_reply_to);
    return this.#guide(request, actor);
  }

  async ack(messageId: string): Promise<Guided> {
    const actor = await this.actor();
    return this.#guide(this.mailbox.ack(actor, messageId), actor);
  }

  async inbox(): Promise<object> {
    const actor = await this.actor();
    const messages = this.mailbox.inbox(actor).map((message) => this.#guide(message, actor));
    return {
      messages,
      next_action: 'Read, then ack explicitly. A question stays until it is answered with reply.',
    };
  }

  async sent(): Promise<object> {
    const actor = await this.actor();
    return { messages: this.mailbox.sent(actor).map((message) => this.#guide(message, actor)) };
  }

  [Symbol.dispose](): void {
    this.mailbox[Symbol.dispose]();
  }

  /** Null outside of Ostler's terminals, and where the registry can't be asked. */
  async #terminalSession(): Promise<TerminalSession | null> {
    const { env, terminals } = this.#options;
    const agentId = env['OSTLER_AGENT_ID'] ?? '';
    if (agentId === '') return null;
    try {
      return await terminals.sessionOf(agentId);
    } catch (failure) {
      if (isCoded(failure)) return null;
      throw failure;
    }
  }

  /** `confirmed` is false where this call attempted a notification and it isn't known to have arrived. */
  #posted(
    sent: Sent,
    waited: { message: MailMessage; ended: 'reply' | 'timeout' },
    actor: string,
  ): { document: Posted; confirmed: boolean } {
    const { unasked } = this.#options.terminals;
    const document: Posted = {
      ...this.#guide(waited.message, actor),
      created: sent.created,
      ...(waited.ended === 'timeout' ? { wait_ended: 'timeout' as const } : {}),
      ...(sent.attempted && unasked !== null ? { daemon: unasked.code } : {}),
    };
    return { document, confirmed: !sent.attempted || sent.message.submission === 'submitted' };
  }

  #guide(message: MailMessage, actor: string): Guided {
    return guided(message, actor, this.mailbox.path);
  }
}
