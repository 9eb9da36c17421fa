import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { type MailMessage, maxBodyBytes } from '@ostler/mailbox';
import { CodedError } from '@ostler/runtime';
import { daemonTerminals } from './daemon-terminals.js';
import { databasePath } from './places.js';
import { interrupted, refused } from './recovery.js';
import { MailVerbs } from './verbs.js';

/** 0: the local operation succeeded. 2: invalid input, or a notification without a confirmed submission. 130: Ctrl-C. */
const exitCodes = { refused: 2, interrupted: 130 } as const;

export interface MailSettings {
  readonly db?: string | undefined;
  readonly as?: string | undefined;
  readonly stateDir?: string | undefined;
}

export interface MailRun {
  readonly verbs: MailVerbs;
  readonly signal: AbortSignal;
  /** To be told of a message that is on the disk, so that an interruption can name it. */
  readonly onSaved: (message: MailMessage) => void;
}

export type MailAnswer =
  | { readonly kind: 'json'; readonly document: object; readonly confirmed?: boolean }
  | { readonly kind: 'lines'; readonly lines: readonly string[] };

/**
 * Runs one command to its exit code and its one document on stdout. Ctrl-C ends it at once,
 * whatever it was at, with what is known: what is on the disk stays there.
 */
export async function runMail(
  settings: MailSettings,
  messageId: string | null,
  act: (run: MailRun) => Promise<MailAnswer>,
): Promise<void> {
  const path = databasePath(settings.db, process.env);
  const known = {
    messageId,
    saved: false,
    actor: settings.as ?? process.env['OSTLER_PEER'] ?? process.env['HTALK_PEER'] ?? null,
  };
  const aborted = new AbortController();
  const onInterrupt = (): void => {
    aborted.abort();
    print(interrupted(known, path));
    process.exit(exitCodes.interrupted);
  };
  process.on('SIGINT', onInterrupt);
  try {
    const terminals = daemonTerminals(settings.stateDir);
    using verbs = new MailVerbs({ path, asserted: settings.as, env: process.env, terminals });
    const answer = await act({
      verbs,
      signal: aborted.signal,
      onSaved(message) {
        known.messageId = message.id;
        known.actor = message.sender;
        known.saved = true;
      },
    });
    if (answer.kind === 'lines') process.stdout.write(`${answer.lines.join('\n')}\n`);
    else print(answer.document);
    if (answer.kind === 'json' && answer.confirmed === false) process.exitCode = exitCodes.refused;
  } catch (failure) {
    if (!(failure instanceof CodedError)) throw failure;
    print(refused(failure, known.actor, path));
    process.exitCode = exitCodes.refused;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** At most one body's bytes are read. Throws CodedError message_file_unreadable, message_must_be_text. */
export function readMessageFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readStart(path, maxBodyBytes + 1);
  } catch (failure) {
    const message = failure instanceof Error ? failure.message : String(failure);
    throw new CodedError('message_file_unreadable', `${path} can't be read: ${message}`);
  }
  if (bytes.length > maxBodyBytes) {
    throw new CodedError('message_must_be_1_to_32000_bytes', `${path} is longer than a message`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CodedError('message_must_be_text', `${path} is not UTF-8`, { cause });
  }
}

function readStart(path: string, lengthBytes: number): Buffer {
  const handle = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(lengthBytes);
    let filled = 0;
    for (let got = -1; got !== 0 && filled < lengthBytes; filled += got) {
      got = readSync(handle, buffer, filled, lengthBytes - filled, null);
    }
    return buffer.subarray(0, filled);
  } finally {
    closeSync(handle);
  }
}

/** Whole before the process may end. */
function print(document: object): void {
  const bytes = Buffer.from(`${JSON.stringify(document)}\n`);
  for (let written = 0; written < bytes.length; ) {
    written += writeSome(bytes, written);
  }
}

/** A pipe that is full takes nothing for a moment. */
function writeSome(bytes: Buffer, from: number): number {
  try {
    return writeSync(1, bytes, from);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw failure;
  }
}
