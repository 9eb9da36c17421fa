export { type ActorRequest, actorOf } from './actor.js';
export { checkWaitSeconds, maxBodyBytes, maxWaitSeconds } from './checked-input.js';
export { type MailError, type MailErrorCode, mailErrorMeanings } from './mail-error.js';
export {
  Mailbox,
  type MailboxOptions,
  type SendOptions,
  type Sent,
  type Waited,
} from './mailbox.js';
export type { Notification, Notifier, Submission } from './notifier.js';
export type { NewPeer } from './peers.js';
export { mailCommandLine } from './pointer-text.js';
export type { MailMessage, Peer, StoredMessage, SubmissionState } from './rows.js';
export type {
  OwnedTerminal,
  OwnedTerminals,
  TerminalSession,
  TypedPointer,
} from './terminal-notifier.js';
