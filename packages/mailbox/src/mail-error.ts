import { CodedError } from '@ostler/runtime';

/** What a mail operation refuses, and then nothing was changed. The codes are part of the surface. */
export const mailErrorMeanings = {
  invalid_peer_name: 'A name is 1 to 64 of a–z, 0–9, _ and -, and does not begin with _ or -.',
  unsupported_harness: 'No engine of this name can be notified.',
  invalid_uuid: 'An id is a UUID.',
  workspace_not_found: 'The workspace does not exist.',
  workspace_must_be_a_directory: 'The workspace is not a directory.',
  peer_already_has_a_different_address: 'Addresses are immutable, and the name is taken.',
  session_already_has_a_peer_name: 'One session has one name.',
  unknown_peer: 'No peer of this name is registered.',
  sender_and_recipient_must_differ: 'Nobody writes to themselves.',
  message_must_be_1_to_32000_bytes: 'A body is 1 to 32,000 bytes of UTF-8 and not blank.',
  message_must_be_text: 'A body is well-formed Unicode.',
  message_id_conflict: 'The id is in use with other content, which was kept.',
  unknown_message: 'No message has this id.',
  unknown_request: 'No request has this id.',
  message_not_addressed_to_peer: 'Only its two parties may look at a message.',
  reply_requires_a_request: 'A reply is not answered; send a request.',
  reply_address_mismatch: 'Only the recipient of a request answers it, and only its sender.',
  reply_conflict_existing_answer_preserved: 'The request has another answer, which was kept.',
  only_recipient_can_ack: 'Only the recipient acknowledges a message.',
  wait_requires_own_request: 'One waits for the answer to a request of one’s own.',
  wait_seconds_must_be_between_0_and_45: 'A wait is a finite number of seconds from 0 to 45.',
  peer_required_use_as_or_OSTLER_PEER: 'It is not known who is speaking.',
  actor_conflicts_with_terminal: 'This terminal belongs to another peer.',
  unsupported_database_version: 'The file has another schema version.',
  not_a_mailbox_database: 'The file is something else.',
  mailbox_busy: 'Another program kept the file locked for too long.',
} as const;

export type MailErrorCode = keyof typeof mailErrorMeanings;

export type MailError = CodedError<MailErrorCode>;

export function mailError(
  code: MailErrorCode,
  message: string = mailErrorMeanings[code],
  details: Readonly<Record<string, unknown>> = {},
): MailError {
  return new CodedError(code, message, { details });
}
