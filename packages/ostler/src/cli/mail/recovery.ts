import { type MailMessage, mailCommandLine } from '@ostler/mailbox';

/** A message with the commands that go on from it. They run as they stand, in any shell. */
export interface Guided extends MailMessage {
  readonly recovery: Readonly<Record<string, string>>;
  readonly next_action: string;
}

export function guided(message: MailMessage, actor: string, path: string): Guided {
  const command = (...words: string[]): string => mailCommandLine(path, actor, words);
  const recovery: Record<string, string> = { show: command('show', message.id) };
  const say = (action: string): Guided => ({
    ...message,
    recovery,
    next_action: `${action} Never repeat an uncertain notification.`,
  });
  if (message.sender === actor && message.in_reply_to === null) {
    const { reply } = message;
    if (reply === null) {
      recovery['wait'] = command('wait', message.id, '--seconds', '45');
      return say('Wait for the answer with recovery.wait, or look with recovery.show.');
    }
    recovery['show_reply'] = command('show', reply.id);
    if (reply.ack_at !== null) return say('The answer is in reply.');
    recovery['ack_after_reading'] = command('ack', reply.id);
    return say('The answer is in reply; once you read it, recovery.ack_after_reading.');
  }
  if (message.recipient !== actor) return say('The recipient finds it in its inbox.');
  if (message.ack_at === null) recovery['ack_after_reading'] = command('ack', message.id);
  if (message.in_reply_to !== null) return say('Once you read it, recovery.ack_after_reading.');
  if (message.reply !== null) return say('It is answered.');
  recovery['reply'] = `${command('reply', message.id)} --message '…'`;
  return say('Answer with recovery.reply; acknowledging leaves the question open.');
}

/** What is known, and where to look, when a command is broken off. */
export function interrupted(
  known: { messageId: string | null; saved: boolean; actor: string | null },
  path: string,
): object {
  const { actor, messageId, saved } = known;
  const command = (...words: string[]): string => mailCommandLine(path, actor, words);
  return {
    state: 'interrupted',
    message_id: messageId,
    persistence: saved ? 'saved' : 'unknown',
    recovery: {
      peers: mailCommandLine(path, null, ['peer', 'list']),
      ...(actor === null ? {} : { sent: command('sent'), inbox: command('inbox') }),
      ...(actor === null || messageId === null ? {} : { show: command('show', messageId) }),
    },
    next_action: 'Look with the recovery commands. Do not send again.',
  };
}

/** An error as a document: the code, what to do, and where to look. */
export function refused(
  error: { code: string; message: string; details?: Readonly<Record<string, unknown>> },
  actor: string | null,
  path: string,
): object {
  const command = (...words: string[]): string => mailCommandLine(path, actor, words);
  const messageId = error.details?.['message_id'];
  return {
    state: 'error',
    error: error.code,
    message: error.message,
    ...error.details,
    recovery: {
      peers: mailCommandLine(path, null, ['peer', 'list']),
      ...(actor === null ? {} : { sent: command('sent'), inbox: command('inbox') }),
      ...(actor === null || typeof messageId !== 'string'
        ? {}
        : { show: command('show', messageId) }),
    },
    next_action:
      'Nothing was changed. Look with the recovery commands; never repeat an uncertain notification.',
  };
}
