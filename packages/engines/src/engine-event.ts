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
      /**
       * `record` (where left out): the record names the turn of each of them, or chains them to
       * its end. `order`: they only stand between the turn's start and its end.
       */
      readonly tie?: 'record' | 'order';
      /** The engine's id of this end, the same at every reading of its record. No result without one. */
      readonly endRef?: string | null;
      /**
       * The last words of the turn: the answer, or the error where it failed. Whole up to
       * 65,536 characters, which is more than any result may have.
       */
      readonly finalText: string | null;
      readonly atMs: number;
    }
  /** Consumed inputs whose turn is over without the record tying them to its end. */
  | {
      readonly kind: 'inputs_untied';
      readonly inputRefs: readonly string[];
      readonly atMs: number;
    }
  /** Words of the engine in a running turn, as its record has them. */
  | {
      readonly kind: 'turn_text';
      readonly turnRef: string | null;
      readonly text: string;
      readonly atMs: number;
    }
  /** The engine uses a tool. */
  | {
      readonly kind: 'turn_tool';
      readonly turnRef: string | null;
      readonly toolId: string;
      /** Null at the end, where the record does not repeat it. */
      readonly name: string | null;
      readonly state: 'begun' | 'ended';
      readonly atMs: number;
    }
  /** The record moved to another file (/clear, resume, compaction). */
  | { readonly kind: 'record_rotated'; readonly path: string; readonly atMs: number }
  /** Signals beside the screen changed; a new look may read differently. */
  | { readonly kind: 'signals_changed'; readonly atMs: number };
