/**
 * What an engine's own record, hook or native door says happened. `atMs` is the
 * engine's time of the entry (Unix epoch), not the time it was read.
 */
export type EngineEvent =
  | {
      /** The engine has the input; it need not have looked at it. */
      readonly kind: 'input_accepted';
      readonly text: string;
      readonly evidence: 'hook' | 'record' | 'native';
      readonly inputRef: string | null;
      readonly atMs: number;
    }
  | {
      /** The record shows the input taken into a turn. */
      readonly kind: 'input_consumed';
      readonly text: string;
      readonly evidence: 'hook' | 'record' | 'native';
      /** The engine's id of the consumed input; `turn_ended` names its members by it. */
      readonly inputRef: string | null;
      readonly turnRef: string | null;
      readonly atMs: number;
    }
  | {
      /** The engine gave queued input back (popped into the composer, dropped). Null text: all of it. */
      readonly kind: 'input_withdrawn';
      readonly text: string | null;
      readonly atMs: number;
    }
  | { readonly kind: 'turn_started'; readonly turnRef: string | null; readonly atMs: number }
  | {
      readonly kind: 'turn_ended';
      readonly turnRef: string | null;
      readonly outcome: 'completed' | 'failed' | 'cancelled';
      /** Inputs the record itself ties to this end; empty where it can't. */
      readonly inputRefs: readonly string[];
      readonly finalText: string | null;
      readonly atMs: number;
    }
  /** The record moved to another file (/clear, resume, compaction). */
  | { readonly kind: 'record_rotated'; readonly path: string; readonly atMs: number }
  /** Signals beside the screen changed; a new look may read differently. */
  | { readonly kind: 'signals_changed'; readonly atMs: number };
