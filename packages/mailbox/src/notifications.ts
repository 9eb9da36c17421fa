import type { SqlStatement } from '@ostler/store/sqlite';
import type { MailFile } from './mail-file.js';
import type { Messages } from './messages.js';
import type { Notifier, Submission } from './notifier.js';
import type { Peers } from './peers.js';
import { pointerText } from './pointer-text.js';

/**
 * The one notification of a message. It is claimed on the disk, as `submission_unknown`, before
 * anything reaches a client; the claim is a conditional update, so that of several processes
 * one makes the attempt. A crash in the middle leaves it unknown, for ever.
 */
export class Notifications {
  readonly #file: MailFile;
  readonly #peers: Peers;
  readonly #messages: Messages;
  readonly #notifier: Notifier;
  readonly #claim: SqlStatement;
  readonly #finish: SqlStatement;

  constructor(parts: { file: MailFile; peers: Peers; messages: Messages; notifier: Notifier }) {
    this.#file = parts.file;
    this.#peers = parts.peers;
    this.#messages = parts.messages;
    this.#notifier = parts.notifier;
    this.#claim = this.#file.prepare(
      `UPDATE messages SET submission = 'submission_unknown', notification_started_at = ?
       WHERE id = ? AND notification_started_at IS NULL`,
    );
    this.#finish = this.#file.prepare(
      `UPDATE messages SET submission = ?, notification_detail = ?, notification_finished_at = ?
       WHERE id = ? AND notification_finished_at IS NULL`,
    );
  }

  /** False where the attempt was made, or is being made, already: then nothing is sent. */
  async once(messageId: string, signal?: AbortSignal): Promise<boolean> {
    const claimed = this.#file.write(() => this.#claim.run(this.#file.nowSeconds(), messageId));
    if (claimed === 0) return false;
    const { submission, detail } = await this.#attempt(messageId, signal);
    this.#file.write(() =>
      this.#finish.run(submission, detail, this.#file.nowSeconds(), messageId),
    );
    return true;
  }

  async #attempt(messageId: string, signal?: AbortSignal): Promise<Submission> {
    const { recipient, sender } = this.#messages.get(messageId);
    const peer = this.#peers.get(recipient);
    const text = pointerText({ messageId, reader: recipient, path: this.#file.path });
    try {
      return await this.#notifier.notify({ peer, messageId, sender, text }, signal);
    } catch (failure) {
      const detail = failure instanceof Error ? failure.name : 'failed';
      return { submission: 'submission_unknown', detail };
    }
  }
}
