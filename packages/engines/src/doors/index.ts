export { ClaudeMailDoor, type ClaudeMailDoorOptions } from '../claude/mail-door.js';
export { AppServerLink } from '../codex/app-server-link.js';
export { CodexMailDoor, type CodexMailDoorOptions } from '../codex/mail-door.js';
export type {
  Environment,
  ForeignRows,
  IdentityEvidence,
  MailAddress,
  MailDoor,
  MailPointer,
  Submission,
} from './mail-door.js';
