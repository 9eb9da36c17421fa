import type { EndedDelivery, TurnEnd } from '@ostler/controller';
import {
  correlationOf,
  fitsTurnResult,
  maxTurnResultMembers,
  type ReceiptChange,
  type TurnResult,
} from '@ostler/protocol';
import type { DeliveryRecord, NewEvent } from '@ostler/store';
import { shortForms } from './recap.js';
import { stableId } from './turns.js';

/** A turn's end, as it is to be committed. */
export interface EndedTurn {
  readonly agentId: string;
  readonly turnId: string;
  readonly end: TurnEnd;
  readonly deliveries: readonly EndedDelivery[];
}

/** Why a turn's end makes no result; its receipts are what the record proves all the same. */
export type Withheld =
  | 'no_member'
  | 'no_end_ref'
  | 'no_text'
  | 'too_many_members'
  | 'mixed_owners'
  | 'mixed_instances'
  | 'too_large';

export type MadeResult =
  | { readonly kind: 'result'; readonly result: TurnResult; readonly deviceId: string }
  | { readonly kind: 'withheld'; readonly reason: Withheld };

/** The id of the result of one end of one agent: the same at every reading of the record. */
export function resultIdOf(agentId: string, endRef: string): string {
  return stableId('result', agentId, endRef);
}

/**
 * The result of a turn for exactly `members`, the deliveries its record ties to its end, in the
 * order the engine took them. It has one owner and one instance of birth, or is withheld whole.
 */
export function makeResult(turn: EndedTurn, members: readonly DeliveryRecord[]): MadeResult {
  const withheld = (reason: Withheld): MadeResult => ({ kind: 'withheld', reason });
  const { endRef, finalText, outcome, turnRef } = turn.end;
  const [first] = members;
  if (!first) return withheld('no_member');
  if (endRef === undefined || endRef === null) return withheld('no_end_ref');
  if (finalText === null || finalText.trim() === '') return withheld('no_text');
  if (members.length > maxTurnResultMembers) return withheld('too_many_members');
  const { deviceId } = first;
  const { serverInstanceId } = first.receipt;
  if (members.some((member) => member.deviceId !== deviceId)) return withheld('mixed_owners');
  if (members.some(({ receipt }) => receipt.serverInstanceId !== serverInstanceId)) {
    return withheld('mixed_instances');
  }
  const inputs = members.map(({ receipt: { deliveryId, idempotencyKey } }) => {
    return { deliveryId, idempotencyKey };
  });
  const result: TurnResult = {
    serverInstanceId,
    resultId: resultIdOf(turn.agentId, endRef),
    correlation: correlationOf(inputs, turnRef ?? undefined),
    outcome,
    fullText: finalText,
  };
  return fitsTurnResult(result) ? { kind: 'result', result, deviceId } : withheld('too_large');
}

/** A completion is never told without an answer that could be sent: the answer is what was asked for. */
export const tooLarge: ReceiptChange = {
  state: 'unknown',
  error: {
    code: 'RESULT_EVIDENCE_MISSING',
    message: 'the turn ended, and its answer is larger than a result may be; look at the agent',
  },
};

/** `turn.done`, and the turn in short where it said something. */
export function endEvents(turn: EndedTurn): readonly NewEvent[] {
  const { agentId, end, turnId } = turn;
  const { finalText, outcome } = end;
  const done: NewEvent = { kind: 'turn.done', agentId, payload: { turnId, outcome } };
  if (finalText === null || finalText.trim() === '') return [done];
  const payload = { turnId, outcome, ...shortForms(finalText) };
  return [done, { kind: 'turn.summary', agentId, payload }];
}
