/** How an engine takes an Enter while it is busy. */
export type ModelRule = 'steering' | 'native_queue' | 'merging' | 'daemon_queue';

export type ModelDialog = 'permission' | 'question' | 'menu' | 'transcript' | 'search';

/** From the first to the second, both included. */
export type RangeMs = readonly [number, number];

/** What one model engine is like. */
export interface EnginePlan {
  readonly rule: ModelRule;
  readonly bootMs: number;
  /** From a byte's arrival to its being read. */
  readonly readMs: RangeMs;
  /** How long it works at a paste and at an Enter; only then they show. */
  readonly echoMs: RangeMs;
  readonly enterMs: RangeMs;
  /** From a change to its frame, and from the frame to our screen. */
  readonly frameMs: RangeMs;
  readonly transportMs: RangeMs;
  /** From an entry to its being read by us. */
  readonly recordMs: RangeMs;
  readonly recordLossShare: number;
  readonly recordsInOrder: boolean;
  /** A hook tells each submission at once. */
  readonly hook: boolean;
  readonly turnMs: RangeMs;
  /** Steered inputs are taken at the next of these; null: at the turn's end only. */
  readonly boundaryMs: number | null;
  readonly showsQueue: boolean;
  readonly swallowShare: number;
  /** A dialog over a draft says so this long before it takes keys. */
  readonly announceMs: number;
  /** An Enter this soon after such a dialog opened is ignored. */
  readonly graceMs: number;
  /** A dialog that had stood a while and goes by itself takes the draft with it. */
  readonly dialogDropsDraft: boolean;
  readonly ghost: string | null;
  /** The ghost's first frame has not its dim style yet: it looks like a draft. */
  readonly ghostStyleLate: boolean;
  readonly spinnerMs: number;
  readonly halfFrameShare: number;
  /** A text with an `@` opens a list that eats the next Enter. */
  readonly popup: boolean;
}

export type WriteFault =
  | 'nothing_written'
  | 'ambiguous_arrived'
  | 'ambiguous_lost'
  | 'ambiguous_cut';

/** What a planned action does. `session` is an index. */
export type PlannedDo =
  | { readonly do: 'send'; readonly session: number; readonly key: string; readonly text: string }
  | { readonly do: 'resend'; readonly key: string }
  | { readonly do: 'conflict'; readonly key: string }
  | { readonly do: 'cancel'; readonly key: string }
  | { readonly do: 'resolve'; readonly key: string }
  | { readonly do: 'stop'; readonly session: number; readonly key: string }
  | { readonly do: 'answer'; readonly session: number; readonly key: string }
  | { readonly do: 'person'; readonly session: number; readonly keys: string }
  | { readonly do: 'resize'; readonly session: number; readonly cols: number }
  | { readonly do: 'open'; readonly session: number; readonly dialog: ModelDialog }
  | { readonly do: 'close'; readonly session: number }
  | {
      readonly do: 'stall';
      readonly session: number;
      readonly what: 'reading' | 'painting' | 'both';
      readonly forMs: number;
    }
  | { readonly do: 'ghost'; readonly session: number; readonly text: string }
  | {
      readonly do: 'end_turn';
      readonly session: number;
      readonly outcome: 'completed' | 'failed' | 'cancelled';
    }
  | { readonly do: 'shell'; readonly session: number }
  | { readonly do: 'die'; readonly session: number }
  | {
      readonly do: 'restart';
      readonly engines: 'die' | 'survive';
      /** Processes that open the store and are killed before they reach an engine. */
      readonly unadopted?: number;
    }
  | { readonly do: 'takeover'; readonly session: number; readonly forMs: number }
  | { readonly do: 'write_fault'; readonly session: number; readonly fault: WriteFault }
  | { readonly do: 'swallow'; readonly session: number; readonly enters: number }
  | { readonly do: 'store_fails'; readonly operations: number };

/** An instant between two actions of ours. */
export type Moment =
  | 'look_asked'
  | 'look_given'
  | 'paste_leaves'
  | 'paste_left'
  | 'enter_leaves'
  | 'enter_left'
  | 'erase_leaves'
  | 'paste_read'
  | 'enter_read'
  | 'store_written';

export type PlannedAction = PlannedDo &
  (
    | { readonly atMs: number }
    | { readonly on: Moment; readonly of: number; readonly nth: number; readonly afterMs: number }
  );

/** One schedule, whole: with its seed it says everything that will happen. */
export interface Plan {
  readonly seed: number;
  readonly engines: readonly EnginePlan[];
  /** How long our own parts take. */
  readonly lookMs: RangeMs;
  readonly writeMs: RangeMs;
  readonly actions: readonly PlannedAction[];
  /** From here on nothing bad happens any more, and everything has to come to rest. */
  readonly calmFromMs: number;
  /** The session that meets no trouble of its own, if one is there to show that it waits for nobody. */
  readonly calmSession: number | null;
}
