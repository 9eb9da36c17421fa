import type { Piece } from './model-draft.js';
import type { ModelKey } from './model-keys.js';
import type { ModelDialog } from './plan.js';

/** One write as it left our house. */
export interface Sent {
  readonly serial: number;
  readonly by: 'us' | 'person';
  readonly data: string;
}

export interface OpenDialog {
  readonly kind: ModelDialog;
  readonly number: number;
  readonly openedAtMs: number;
  /** An Enter before this is ignored. */
  readonly deafUntilMs: number;
}

/** Who is told the truth. */
export interface Witness {
  keyRead(key: ModelKey['kind'], sent: Sent): void;
  submitted(pieces: readonly Piece[], sent: Sent): void;
  consumed(pieces: readonly Piece[]): void;
  /** The engine gave it back: it is no longer on its way. */
  withdrawn(pieces: readonly Piece[]): void;
  turnEnded(
    pieces: readonly Piece[],
    outcome: 'completed' | 'failed' | 'cancelled',
    answer: string,
  ): void;
  dialogKey(dialog: OpenDialog, key: ModelKey['kind'], sent: Sent): void;
  erased(pieces: readonly Piece[], sent: Sent): void;
  shellRead(data: string, sent: Sent): void;
  note(text: () => string): void;
}
