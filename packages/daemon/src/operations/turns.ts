import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Reserved } from '@ostler/service';
import type { Caller } from '../caller.js';
import { receiptFor } from '../event-view.js';
import { fitting } from '../fitting.js';

const defaultRecapTurns = 3;

export function send(caller: Caller, request: RequestOf<'turn.send'>): ResultOf<'turn.send'> {
  const { parts, view } = caller;
  return shown(caller, parts.service.turnSend(view.deviceId, request));
}

export function stop(caller: Caller, request: RequestOf<'turn.stop'>): ResultOf<'turn.stop'> {
  const { parts, view } = caller;
  return shown(caller, parts.service.turnStop(view.deviceId, request));
}

export function answer(
  caller: Caller,
  request: RequestOf<'question.answer'>,
): ResultOf<'question.answer'> {
  const { parts, view } = caller;
  return shown(caller, parts.service.questionAnswer(view.deviceId, request));
}

export function recap(
  { parts: { service } }: Caller,
  { agentId, n = defaultRecapTurns }: RequestOf<'recap'>,
): ResultOf<'recap'> {
  // Newest last: where all are too much for a frame, the oldest are left out.
  const newestFirst = [...service.recap(agentId, n)].reverse();
  return { turns: [...fitting(newestFirst)].reverse() };
}

function shown({ view }: Caller, { receipt, status }: Reserved): ResultOf<'turn.send'> {
  return { status, receipt: receiptFor(view, receipt) };
}
