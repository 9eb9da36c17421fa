import type { EvidenceKind, InputPhase, ReceiptState } from './receipt.js';

const moves: Readonly<Record<ReceiptState, readonly ReceiptState[]>> = {
  queued: ['delivered', 'started', 'unknown', 'completed', 'rejected'],
  delivered: ['started', 'completed', 'unknown', 'rejected'],
  started: ['completed', 'unknown'],
  unknown: ['delivered', 'started', 'completed', 'rejected'],
  completed: [],
  rejected: [],
};

const ranks: Readonly<Record<ReceiptState, number>> = {
  queued: 0,
  unknown: 0,
  delivered: 1,
  started: 2,
  completed: 3,
  rejected: 3,
};

const phaseRanks: Readonly<Record<InputPhase, number>> = {
  waiting_for_writer: 0,
  waiting_for_user: 0,
  waiting_for_turn: 0,
  submitted: 1,
  unconfirmed: 2,
  accepted: 3,
};

const evidenceRanks: Readonly<Record<EvidenceKind, number>> = {
  composer_left: 0,
  queue_shown: 1,
  hook: 2,
  record: 3,
  native: 3,
};

/**
 * How much is established: 0 nothing, 1 the writes, 2 the start, 3 the end. `unknown`
 * establishes nothing, so `receiptRank(state) >= 2` never holds by a mere doubt.
 */
export function receiptRank(state: ReceiptState): number {
  return ranks[state];
}

/** True when the table has the move. Staying is not a move. */
export function mayMove(from: ReceiptState, to: ReceiptState): boolean {
  return moves[from].includes(to);
}

/** Completed or rejected: nothing changes any more. */
export function isSettled(state: ReceiptState): boolean {
  return moves[state].length === 0;
}

/** 0 while it waits, then submitted, unconfirmed, accepted. A phase never falls. */
export function phaseRank(phase: InputPhase): number {
  return phaseRanks[phase];
}

/** The screen ranks lowest, the engine's own record and native door highest. */
export function evidenceRank(evidence: EvidenceKind): number {
  return evidenceRanks[evidence];
}
