import type { ControllerLimits } from '@ostler/controller';
import type { Receipt, TurnResult } from '@ostler/protocol';
import type { Piece } from './model-draft.js';
import type { ModelKey } from './model-keys.js';
import type { Leaving } from './sim-terminal.js';
import type { View } from './view.js';
import type { OpenDialog, Sent } from './witness.js';

/** One reserved input, and what really became of it. */
export interface DeliveryTruth {
  readonly deliveryId: string;
  readonly key: string;
  readonly session: number;
  readonly agentId: string;
  readonly operation: Receipt['operation'];
  readonly text: string;
  /** Reservations of one session count up. */
  readonly order: number;
  readonly reservedAtMs: number;
  /** The process that took it: a count of restarts. */
  readonly life: number;
  receipt: Receipt;
  pastes: number;
  enters: number;
  /** What we were told of the last write, null while it is under way. */
  lastWrite: 'carried_out' | 'nothing_written' | 'ambiguous' | null;
  submittedByUs: number;
  submittedByPerson: number;
  /** Submissions the engine has taken into a turn. */
  consumed: number;
  withdrawn: boolean;
  turnEnded: 'completed' | 'failed' | 'cancelled' | null;
  /** The last words of the turn that took it. */
  answer: string | null;
  submittedAtMs: number | null;
  /** The engine's record or hook told the living session of it. */
  evidenceAtMs: number | null;
  acceptedAtMs: number | null;
  /** A person said what became of it. */
  resolved: boolean;
}

export interface SessionTruth {
  readonly index: number;
  agentId: string;
  reserved: number;
  lastPasted: number;
  lastSubmitted: number;
  /** The delivery the journal named last. */
  writing: DeliveryTruth | null;
  /** Whose text left last: it is what an erasure takes back. */
  pasted: DeliveryTruth | null;
  lastWriteOrder: number;
  /** What had arrived when each write was asked for. */
  readonly seenAtWrite: Map<number, { readonly view: View | null; readonly what: WriteKind }>;
  /** The questions that answers were asked for. */
  readonly answering: Set<number>;
  gone: boolean;
}

export type WriteKind = 'paste' | 'enter' | 'erase' | 'control';

export interface WriteFact {
  readonly session: SessionTruth;
  readonly what: WriteKind;
  readonly delivery: DeliveryTruth | null;
  readonly leaving: Leaving;
}

export interface ReceiptFact {
  readonly delivery: DeliveryTruth;
  readonly before: Receipt;
  readonly after: Receipt;
}

/** A result was committed. */
export interface ResultFact {
  readonly result: TurnResult;
  /** It is told to the device that reserved its members alone. */
  readonly isPrivate: boolean;
  /** Its members, null for one that nobody reserved. */
  readonly members: readonly (DeliveryTruth | null)[];
  /** Results so far that name one of them. */
  readonly earlier: number;
}

export interface SubmitFact {
  readonly session: SessionTruth;
  readonly pieces: readonly Piece[];
  readonly sent: Sent;
  /** Ours among the pieces. */
  readonly deliveries: readonly DeliveryTruth[];
}

export interface DialogFact {
  readonly session: SessionTruth;
  readonly dialog: OpenDialog;
  readonly key: ModelKey['kind'];
  readonly sent: Sent;
  readonly seen: { readonly view: View | null; readonly what: WriteKind } | null;
}

export interface EraseFact {
  readonly session: SessionTruth;
  readonly pieces: readonly Piece[];
  readonly seen: View | null;
}

export interface ReplyFact {
  readonly key: string;
  readonly reply: { readonly status: 'accepted' | 'duplicate'; readonly receipt: Receipt };
  readonly stored: Receipt | null;
  /** The delivery the key was reserved for earlier. */
  readonly earlier: DeliveryTruth | null;
  readonly sameIntent: boolean;
}

export interface DepthFact {
  readonly session: SessionTruth;
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly unresolved: number;
  readonly limits: ControllerLimits;
}

/** One session after everything has become calm. */
export interface RestFact {
  readonly session: SessionTruth;
  readonly phase: string;
  readonly deliveries: readonly DeliveryTruth[];
}

/** The whole run, at its end. */
export interface EndFact {
  readonly deliveries: readonly DeliveryTruth[];
  readonly calmSession: number | null;
}
