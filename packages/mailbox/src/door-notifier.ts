import type { MailAddress, MailDoor } from '@ostler/engines/doors';
import type { Notification, Notifier, Submission } from './notifier.js';
import type { Peer } from './rows.js';

/** Through an engine's own door: its socket, its queue, its server. */
export class DoorNotifier implements Notifier {
  readonly #doors: ReadonlyMap<string, MailDoor>;

  constructor(doors: readonly MailDoor[]) {
    this.#doors = new Map(doors.map((door) => [door.engine, door]));
  }

  async notify(notification: Notification, signal?: AbortSignal): Promise<Submission> {
    const { messageId, peer, sender, text } = notification;
    const door = this.#doors.get(peer.harness);
    if (door === undefined) return { submission: 'not_submitted', detail: 'unsupported_harness' };
    return await door.submit(addressOf(peer), { messageId, sender, text }, signal);
  }
}

export function addressOf(peer: Peer): MailAddress {
  return { sessionId: peer.session_id, workspace: peer.workspace, socket: peer.socket };
}
