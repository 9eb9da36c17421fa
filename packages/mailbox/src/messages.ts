import type { Ids } from '@ostler/runtime';
import type { SqlStatement } from '@ostler/store/sqlite';
import { checkBody, checkUuid } from './checked-input.js';
import type { MailFile } from './mail-file.js';
import { mailError } from './mail-error.js';
import type { Peers } from './peers.js';
import { type MailMessage, messageOf, type StoredMessage, withReply } from './rows.js';

export interface Saved {
  readonly message: MailMessage;
  /** False where the same message was there already. */
  readonly created: boolean;
}

/** The messages as committed. Reading changes nothing. */
export class Messages {
  readonly #file: MailFile;
  readonly #ids: Ids;
  readonly #peers: Peers;
  readonly #byId: SqlStatement;
  readonly #answerTo: SqlStatement;
  readonly #insert: SqlStatement;
  readonly #ack: SqlStatement;
  readonly #inbox: SqlStatement;
  readonly #sent: SqlStatement;

  constructor(file: MailFile, peers: Peers, ids: Ids) {
    this.#file = file;
    this.#ids = ids;
    this.#peers = peers;
    this.#byId = file.prepare('SELECT * FROM messages WHERE id = ?');
    this.#answerTo = file.prepare('SELECT * FROM messages WHERE in_reply_to = ?');
    this.#insert = file.prepare(
      `INSERT INTO messages (id, sender, recipient, in_reply_to, body, created_at, submission)
       VALUES (?, ?, ?, ?, ?, ?, 'not_submitted') RETURNING *`,
    );
    this.#ack = file.prepare(
      'UPDATE messages SET ack_at = coalesce(ack_at, ?) WHERE id = ? AND recipient = ?',
    );
    this.#inbox = file.prepare(
      `SELECT * FROM messages AS mail WHERE recipient = ? AND CASE
         WHEN in_reply_to IS NOT NULL THEN ack_at IS NULL
         ELSE NOT EXISTS (SELECT 1 FROM messages WHERE in_reply_to = mail.id)
       END ORDER BY seq`,
    );
    this.#sent = file.prepare('SELECT * FROM messages WHERE sender = ? ORDER BY seq');
  }

  request(sender: string, recipient: string, body: string, id?: string): Saved {
    checkBody(body);
    if (sender === recipient) throw mailError('sender_and_recipient_must_differ');
    const messageId = id === undefined ? this.#ids.uuid() : checkUuid(id);
    return this.#file.write(() => {
      this.#peers.get(sender);
      this.#peers.get(recipient);
      const there = this.find(messageId);
      if (there === null) return this.#save(messageId, sender, recipient, null, body);
      const same =
        there.sender === sender &&
        there.recipient === recipient &&
        there.body === body &&
        there.in_reply_to === null;
      if (!same) throw conflict('message_id_conflict', messageId);
      return { message: this.#complete(there), created: false };
    });
  }

  reply(actor: string, requestId: string, body: string): Saved {
    checkBody(body);
    return this.#file.write(() => {
      this.#peers.get(actor);
      const request = this.find(requestId);
      if (request === null) throw mailError('unknown_request');
      if (request.in_reply_to !== null) throw mailError('reply_requires_a_request');
      if (request.recipient !== actor) throw mailError('reply_address_mismatch');
      const there = this.answerTo(requestId);
      if (there === null) {
        return this.#save(this.#ids.uuid(), actor, request.sender, requestId, body);
      }
      if (there.body !== body) {
        throw conflict('reply_conflict_existing_answer_preserved', requestId);
      }
      return { message: this.#complete(there), created: false };
    });
  }

  /** Throws CodedError unknown_message, message_not_addressed_to_peer. */
  show(id: string, actor: string): MailMessage {
    return this.#file.read(() => {
      const message = this.find(id);
      if (message === null) throw mailError('unknown_message');
      if (message.sender !== actor && message.recipient !== actor) {
        throw mailError('message_not_addressed_to_peer');
      }
      return this.#complete(message);
    });
  }

  /** Keeps the first time. Throws CodedError only_recipient_can_ack. */
  ack(id: string, actor: string): MailMessage {
    this.#file.write(() => {
      if (this.#ack.run(this.#file.nowSeconds(), id, actor) === 0) {
        throw mailError('only_recipient_can_ack');
      }
    });
    return this.show(id, actor);
  }

  /** Unanswered questions and unacknowledged answers, by seq. */
  inbox(actor: string): readonly MailMessage[] {
    return this.#list(this.#inbox, actor);
  }

  /** Everything outgoing, by seq. */
  sent(actor: string): readonly MailMessage[] {
    return this.#list(this.#sent, actor);
  }

  find(id: string): StoredMessage | null {
    const row = this.#byId.get(id);
    return row === null ? null : messageOf(row);
  }

  answerTo(requestId: string): StoredMessage | null {
    const row = this.#answerTo.get(requestId);
    return row === null ? null : messageOf(row);
  }

  /** Whatever its parties. Throws CodedError unknown_message. */
  get(id: string): MailMessage {
    const message = this.find(id);
    if (message === null) throw mailError('unknown_message');
    return this.#complete(message);
  }

  #list(statement: SqlStatement, actor: string): readonly MailMessage[] {
    return this.#file.read(() => {
      this.#peers.get(actor);
      return statement.all(actor).map((row) => this.#complete(messageOf(row)));
    });
  }

  #save(
    id: string,
    sender: string,
    recipient: string,
    inReplyTo: string | null,
    body: string,
  ): Saved {
    const row = this.#insert.get(id, sender, recipient, inReplyTo, body, this.#file.nowSeconds());
    if (row === null) throw new TypeError('an inserted row was not returned');
    return { message: withReply(messageOf(row), null), created: true };
  }

  #complete(message: StoredMessage): MailMessage {
    return withReply(message, this.answerTo(message.id));
  }
}

function conflict(
  code: 'message_id_conflict' | 'reply_conflict_existing_answer_preserved',
  messageId: string,
): Error {
  return mailError(code, undefined, { message_id: messageId });
}
