import type { StyleText } from './style.js';
import type { MailMessage, StoredMessage } from '@ostler/mailbox';

const gutter = '│ ';

/** A request and its answer as lines for a person: who said what when, and what is known of it. */
export function timeline(request: MailMessage, style: StyleText): readonly string[] {
  const { reply } = request;
  const lines = [
    style('dim', `request ${request.id}`),
    ...said(request, `${request.sender} asks ${request.recipient}`, style),
    ...notified(request, style),
    ...(request.ack_at === null
      ? []
      : [mark(request.ack_at, `acknowledged by ${request.recipient}`, style)]),
  ];
  if (reply === null) return [...lines, `╰─ ${style('yellow', 'no answer yet')}`];
  return [
    ...lines,
    ...said(reply, `${reply.sender} answers ${reply.recipient}`, style),
    ...notified(reply, style),
    reply.ack_at === null
      ? `╰─ ${style('yellow', `not acknowledged by ${reply.recipient} yet`)}`
      : `╰─ ${time(reply.ack_at, style)} acknowledged by ${reply.recipient}`,
  ];
}

function said(message: StoredMessage, headline: string, style: StyleText): readonly string[] {
  return [
    `●  ${time(message.created_at, style)} ${style('bold', headline)}`,
    ...visible(message.body)
      .split('\n')
      .map((line) => `${gutter} ${line}`),
  ];
}

function notified(message: StoredMessage, style: StyleText): readonly string[] {
  const { notification_detail: detail, notification_started_at: atSeconds, submission } = message;
  if (atSeconds === null) return [`├─ ${style('dim', 'no notification')}`];
  const words = {
    submitted: style('green', 'notification submitted'),
    not_submitted: style('yellow', 'notification not submitted'),
    submission_unknown: style('yellow', 'notification in doubt'),
  }[submission];
  const why = detail === null ? '' : style('dim', ` (${visible(detail)})`);
  return [mark(atSeconds, `${words}${why}`, style)];
}

function mark(atSeconds: number, text: string, style: StyleText): string {
  return `├─ ${time(atSeconds, style)} ${text}`;
}

function time(atSeconds: number, style: StyleText): string {
  return style(
    'dim',
    `${new Date(atSeconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}Z`,
  );
}

/** A peer's text may hold anything; nothing of it reaches the terminal as a control. */
function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{C}\n\t]/gu, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `\\u{${point.toString(16)}}`;
  });
}
