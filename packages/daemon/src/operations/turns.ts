import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Reserved } from '@ostler/service';
import type { Connection } from '../connection.js';
import { receiptFor } from '../event-view.js';

const defaultRecapTurns = 3;

export function send(
  connection: Connection,
  request: RequestOf<'turn.send'>,
): ResultOf<'turn.send'> {
  const { parts, view } = connection;
  return shown(connection, parts.service.turnSend(view.deviceId, request));
}

export function stop(
  connection: Connection,
  request: RequestOf<'turn.stop'>,
): ResultOf<'turn.stop'> {
  const { parts, view } = connection;
  return shown(connection, parts.service.turnStop(view.deviceId, request));
}

export function answer(
  connection: Connection,
  request: RequestOf<'question.answer'>,
): ResultOf<'question.answer'> {
  const { parts, view } = connection;
  return shown(connection, parts.service.questionAnswer(view.deviceId, request));
}

export function recap(
  { parts: { service } }: Connection,
  { agentId, n = defaultRecapTurns }: RequestOf<'recap'>,
): ResultOf<'recap'> {
  return { turns: service.recap(agentId, n) };
}

function shown({ view }: Connection, { receipt, status }: Reserved): ResultOf<'turn.send'> {
  return { status, receipt: receiptFor(view, receipt) };
}
