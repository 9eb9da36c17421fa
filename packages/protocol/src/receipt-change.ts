import type {
  EvidenceKind,
  InputMode,
  InputPhase,
  InputStatus,
  Receipt,
  ReceiptState,
} from './receipt.js';
import { evidenceRank, isSettled, mayMove, phaseRank } from './receipt-rank.js';

/** What to change of a receipt; a field left out stays. */
export interface ReceiptChange {
  readonly state?: ReceiptState;
  readonly turnId?: string;
  /** Left out: null after a move to a state other than `unknown` and `rejected`, else as it was. */
  readonly error?: Receipt['error'];
  readonly input?: {
    readonly mode?: InputMode;
    readonly phase?: InputPhase;
    /** Null takes the hold away; so does a phase that no longer waits. */
    readonly hold?: string | null;
    readonly evidence?: EvidenceKind;
  };
}

/**
 * `final`: completed and rejected don't move. `state`: the table has no such move, or the
 * input is known to have started and the move would deny it. `phase`: the phase would go
 * down. `mode`: the mode is frozen. `turn`: another turnId is there. `contradiction`: a
 * completed receipt with an error, a new input without mode or phase.
 */
export type RefusalReason = 'final' | 'state' | 'phase' | 'mode' | 'turn' | 'contradiction';

export type ChangeResult =
  | { readonly kind: 'applied'; readonly receipt: Receipt }
  /** The receipt says all of it already. */
  | { readonly kind: 'unchanged'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

type Merged<Value> = { readonly value: Value } | { readonly reason: RefusalReason };

/**
 * The receipt after `change`, observed at `atMs` (Unix epoch). Pure. A change is applied
 * whole or refused whole, and none moves a receipt down: late or repeated evidence is safe
 * to apply in any order.
 */
export function applyToReceipt(
  receipt: Receipt,
  change: ReceiptChange,
  atMs: number,
): ChangeResult {
  const state = change.state ?? receipt.state;
  const turnId = change.turnId ?? receipt.turnId;
  const error = mergeError(receipt, change);
  const input = mergeInput(receipt, change);

  if ('value' in input) {
    const same =
      state === receipt.state &&
      turnId === receipt.turnId &&
      sameError(error, receipt.error) &&
      sameInput(input.value, receipt.input);
    if (same) return { kind: 'unchanged', receipt };
  }
  if (isSettled(receipt.state)) return { kind: 'refused', reason: 'final' };
  if (state !== receipt.state && !mayMove(receipt.state, state)) {
    return { kind: 'refused', reason: 'state' };
  }
  if (receipt.turnId !== null) {
    if (turnId !== receipt.turnId) return { kind: 'refused', reason: 'turn' };
    // A turnId is minted at an observed start; a doubt in between doesn't undo the start.
    const denied = state === 'delivered' || state === 'rejected' || state === 'queued';
    if (denied) return { kind: 'refused', reason: 'state' };
  }
  if ('reason' in input) return { kind: 'refused', reason: input.reason };
  if (state === 'completed' && error !== null) return { kind: 'refused', reason: 'contradiction' };

  const { input: _before, ...rest } = receipt;
  const next: Receipt = { ...rest, state, turnId, error, at: atMs };
  return {
    kind: 'applied',
    receipt: input.value === undefined ? next : { ...next, input: input.value },
  };
}

function mergeError(receipt: Receipt, change: ReceiptChange): Receipt['error'] {
  if (change.error !== undefined) return change.error;
  const moved = change.state !== undefined && change.state !== receipt.state;
  return moved && change.state !== 'unknown' && change.state !== 'rejected' ? null : receipt.error;
}

function mergeInput(receipt: Receipt, change: ReceiptChange): Merged<InputStatus | undefined> {
  const before = receipt.input;
  const wanted = change.input;
  if (wanted === undefined) return { value: before };

  const mode = wanted.mode ?? before?.mode;
  const phase = wanted.phase ?? before?.phase;
  if (mode === undefined || phase === undefined) return { reason: 'contradiction' };
  if (before !== undefined) {
    if (phaseRank(phase) < phaseRank(before.phase)) return { reason: 'phase' };
    const frozen = phaseRank(before.phase) > 0 || receipt.state !== 'queued';
    if (mode !== before.mode && frozen) return { reason: 'mode' };
  }

  const waits = phaseRank(phase) === 0;
  const hold = wanted.hold === undefined ? (waits ? before?.hold : undefined) : wanted.hold;
  const evidence = mergeEvidence(before, phase, wanted.evidence);
  const merged: InputStatus = {
    mode,
    phase,
    ...(hold === undefined || hold === null ? {} : { hold }),
    ...(evidence === undefined ? {} : { evidence }),
  };
  return { value: merged };
}

/** Evidence belongs to its phase: a new phase brings its own, the same phase keeps the stronger. */
function mergeEvidence(
  before: InputStatus | undefined,
  phase: InputPhase,
  offered: EvidenceKind | undefined,
): EvidenceKind | undefined {
  if (before?.evidence === undefined || before.phase !== phase) return offered;
  if (offered === undefined) return before.evidence;
  return evidenceRank(offered) > evidenceRank(before.evidence) ? offered : before.evidence;
}

function sameError(one: Receipt['error'], other: Receipt['error']): boolean {
  return one?.code === other?.code && one?.message === other?.message;
}

function sameInput(one: InputStatus | undefined, other: InputStatus | undefined): boolean {
  return (
    one?.mode === other?.mode &&
    one?.phase === other?.phase &&
    one?.hold === other?.hold &&
    one?.evidence === other?.evidence
  );
}
