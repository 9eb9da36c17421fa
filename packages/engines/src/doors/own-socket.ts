import { statSync } from 'node:fs';
import { Refusal } from './refusal.js';

/** `path` where it is a socket of this user. */
export function ownSocket(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  const uid = process.getuid?.();
  if (!found?.isSocket() || (uid !== undefined && found.uid !== uid)) {
    throw new Refusal(
      'recipient_socket_unavailable',
      `${path} is not a socket of this user; is the session running?`,
    );
  }
  return path;
}
