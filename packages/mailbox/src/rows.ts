import type { Row } from '@ostler/store/sqlite';
import { z } from 'zod';

/** A registered session. Field names are those of the shared file. */
export interface Peer {
  readonly name: string;
  readonly harness: string;
  readonly session_id: string;
  /** Absolute, links resolved. */
  readonly workspace: string;
  readonly socket: string | null;
}

export type SubmissionState = 'not_submitted' | 'submission_unknown' | 'submitted';

/** One message as it is stored. Times are seconds since the Unix epoch. */
export interface StoredMessage {
  /** Rises with every message of the file. */
  readonly seq: number;
  readonly id: string;
  readonly sender: string;
  readonly recipient: string;
  /** The request this answers, or null for a request. */
  readonly in_reply_to: string | null;
  readonly body: string;
  readonly created_at: number;
  /** When the recipient first acknowledged it. */
  readonly ack_at: number | null;
  readonly submission: SubmissionState;
  /** Set before the one attempt to notify. */
  readonly notification_started_at: number | null;
  readonly notification_finished_at: number | null;
  readonly notification_detail: string | null;
}

export interface MailMessage extends StoredMessage {
  readonly reply: StoredMessage | null;
  /** `reply_received` once an answer is stored, whatever became of the notification. */
  readonly state: 'saved' | 'reply_received';
}

const peer: z.ZodType<Peer> = z.object({
  name: z.string(),
  harness: z.string(),
  session_id: z.string(),
  workspace: z.string(),
  socket: z.string().nullable(),
});

const message: z.ZodType<StoredMessage> = z.object({
  seq: z.number(),
  id: z.string(),
  sender: z.string(),
  recipient: z.string(),
  in_reply_to: z.string().nullable(),
  body: z.string(),
  created_at: z.number(),
  ack_at: z.number().nullable(),
  submission: z.enum(['not_submitted', 'submission_unknown', 'submitted']),
  notification_started_at: z.number().nullable(),
  notification_finished_at: z.number().nullable(),
  notification_detail: z.string().nullable(),
});

export function peerOf(row: Row): Peer {
  return peer.parse(row);
}

export function messageOf(row: Row): StoredMessage {
  return message.parse(row);
}

export function withReply(stored: StoredMessage, reply: StoredMessage | null): MailMessage {
  return { ...stored, reply, state: reply === null ? 'saved' : 'reply_received' };
}
