import type { Submission } from '@ostler/engines/doors';
import type { Peer } from './rows.js';

export interface Notification {
  readonly peer: Peer;
  readonly messageId: string;
  readonly sender: string;
  /** The pointer. Never the body. */
  readonly text: string;
}

export type { Submission };

/**
 * One way to tell a peer that there is mail. `notify` hands the pointer over at most once, and
 * says by its result what is known. What fails before the transport is `not_submitted`; what it
 * throws counts as `submission_unknown`.
 */
export interface Notifier {
  notify(notification: Notification, signal?: AbortSignal): Promise<Submission>;
}
