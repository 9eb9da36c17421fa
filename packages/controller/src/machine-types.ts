import type { EngineEvent } from '@ostler/engines';
import type { InputMode, InputPhase, InputStatus, ReceiptState } from '@ostler/protocol';
import type { ControllerLimits } from './limits.js';
import type { Observation } from './observation.js';
import type { AcceptanceEvidence, Outstanding } from './outstanding.js';
import type { WaitingInput } from './waiting-queue.js';

/** The input that owns the session's attention: looked for, held, or in its transaction. */
export interface ActiveInput extends WaitingInput {
  /** Null until the dispatch is journalled; then it never changes. */
  readonly mode: InputMode | null;
  /** The wait last reported, so that a wait is reported once. */
  readonly reported: string;
  readonly enters: number;
  /** The last terminal operation is known to have been carried out whole. */
  readonly writeConfirmed: boolean;
  readonly retryDue: boolean;
  readonly deadlinePassed: boolean;
  readonly looks: number;
  /** A dialog or an unknown screen stood between the Enter and now: an empty composer proves nothing. */
  readonly composerDiscredited: boolean;
  /** The paste has shown in the composer or met a dialog: an empty composer now says that it is over. */
  readonly pasteSeen: boolean;
  /** It has been seen in the composer itself. */
  readonly echoSeen: boolean;
  /** An equal text pasted before may show in the place of this one: it was never seen, or a person may just be bringing it back. */
  readonly twinPossible: boolean;
  /** A person's draft was put away while ours stood there: what stands there now may be theirs. */
  readonly stashSeen: boolean;
  /** Evidence has settled it; the transaction may end. */
  readonly settled: boolean;
  /** Why it is in doubt, once it is. */
  readonly doubt: string | null;
  readonly reclaimRounds: number;
}

export interface InputContext {
  readonly limits: ControllerLimits;
  /** The engine's rule for an Enter while it is busy. */
  readonly busyMode: InputMode;
  readonly queue: readonly WaitingInput[];
  readonly active: ActiveInput | null;
  readonly outstanding: readonly Outstanding[];
  /** Inputs whose paste was never seen in the composer: it may show at any later time. Newest last. */
  readonly unseen: readonly Pick<Outstanding, 'deliveryId' | 'fingerprint' | 'sinceMs'>[];
  readonly controlWanted: number;
  /** Monotonic time at which an accepted input or a record opened a turn; null when none is known open. */
  readonly turnOpenSinceMs: number | null;
  /** The engine's rule: nothing is typed between an idle input and its turn's start. */
  readonly awaitsTurnStart: boolean;
  /** Monotonic time at which an idle input was accepted whose turn hasn't been seen to start. */
  readonly startPendingSinceMs: number | null;
  /** Monotonic time of the latest acceptance into the engine's own queue. */
  readonly queuedSinceMs: number | null;
}

export type InputEvent =
  | { readonly type: 'SUBMIT'; readonly input: WaitingInput }
  | { readonly type: 'CANCEL'; readonly deliveryId: string }
  | { readonly type: 'EXPIRED'; readonly deliveryId: string }
  /** The screen, a side signal or the record moved: worth a new look. */
  | { readonly type: 'WAKE' }
  | { readonly type: 'LOOKED'; readonly seen: Observation }
  | { readonly type: 'JOURNALLED'; readonly pastedAtMs: number; readonly twinTouched: boolean }
  | { readonly type: 'JOURNAL_FAILED'; readonly message: string }
  | { readonly type: 'WRITTEN'; readonly outcome: 'carried_out' | 'nothing_written' | 'ambiguous' }
  | { readonly type: 'TIMER'; readonly name: TimerName }
  | { readonly type: 'EVIDENCE'; readonly seen: AcceptanceEvidence; readonly nowMs: number }
  | { readonly type: 'WITHDRAWN'; readonly fingerprint: string | null; readonly atMs: number }
  | { readonly type: 'TURN_STARTED'; readonly nowMs: number }
  | { readonly type: 'TURN_ENDED'; readonly end: TurnEnd; readonly nowMs: number }
  /** The turn of these is over, and the record does not tie them to its end. */
  | { readonly type: 'UNTIED'; readonly inputRefs: readonly string[] }
  | { readonly type: 'CONTROL_REQUESTED' }
  | { readonly type: 'CONTROL_WITHDRAWN' }
  | { readonly type: 'CONTROL_RELEASED' }
  /** A person's word on an input in doubt. */
  | {
      readonly type: 'RESOLVE';
      readonly deliveryId: string;
      readonly outcome: 'submitted' | 'not_submitted' | 'unknown';
    }
  | { readonly type: 'GONE' };

export type TimerName = 'echo' | 'retry' | 'confirm' | 'idle';

/** What a receipt may say next. Rank is enforced where receipts are stored. */
export interface ReceiptChange {
  readonly state?: ReceiptState;
  readonly input?: InputStatus;
  readonly error?: { readonly code: string; readonly message: string } | null;
  /** The engine consumed it: the entry of its record that says so. */
  readonly turnStarted?: AcceptanceEvidence;
}

export type TurnEnd = Extract<EngineEvent, { readonly kind: 'turn_ended' }>;

/** What a turn's end says of one input that was taken into it. */
export interface EndedDelivery {
  readonly deliveryId: string;
  readonly change: ReceiptChange;
  /** The engine's record itself ties the input to this end: its result may name it. */
  readonly isMember: boolean;
}

/** What the machine asks its adapters to do; it does nothing itself. */
export type InputCommand =
  | { readonly type: 'takeLease' }
  | { readonly type: 'releaseLease' }
  | { readonly type: 'look' }
  | { readonly type: 'journal'; readonly params: { deliveryId: string; mode: InputMode } }
  | { readonly type: 'paste'; readonly params: { deliveryId: string } }
  | { readonly type: 'enter'; readonly params: { deliveryId: string } }
  | { readonly type: 'reclaim'; readonly params: { deliveryId: string } }
  | { readonly type: 'grantControl' }
  | { readonly type: 'forget'; readonly params: { deliveryId: string } }
  | { readonly type: 'startTimer'; readonly params: { name: TimerName; delayMs: number } }
  | { readonly type: 'stopTimer'; readonly params: { name: TimerName } }
  | { readonly type: 'report'; readonly params: { deliveryId: string; change: ReceiptChange } }
  | {
      readonly type: 'endTurn';
      readonly params: { end: TurnEnd; deliveries: readonly EndedDelivery[] };
    };

export function inputStatus(
  mode: InputMode,
  phase: InputPhase,
  rest: { hold?: string; evidence?: InputStatus['evidence'] } = {},
): InputStatus {
  return {
    mode,
    phase,
    ...(rest.hold === undefined ? {} : { hold: rest.hold }),
    ...(rest.evidence === undefined ? {} : { evidence: rest.evidence }),
  };
}
