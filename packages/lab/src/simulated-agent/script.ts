/**
 * What a simulated agent does, as data. Every field has a default: an empty
 * script is a well-behaved agent that steers, and each option breaks one habit.
 */

/** What Enter does while a turn runs. `daemon_queue`: Enter is ignored and the draft stays. */
export type BusyRule = 'steering' | 'native_queue' | 'native_input' | 'merging' | 'daemon_queue';

/** A dialog from the table in `dialogs.ts`. */
export type DialogKind =
  | 'permission'
  | 'question'
  | 'menu'
  | 'trust'
  | 'update'
  | 'sign_in'
  | 'onboarding'
  | 'model_picker'
  | 'rewind'
  | 'transcript'
  | 'search'
  | 'unknown';

/** A dialog with words of its own; what is left out comes from the kind's row of the table. */
export interface DialogSpec {
  readonly kind: DialogKind;
  readonly title?: string;
  readonly body?: readonly string[];
  readonly options?: readonly string[];
}

export type Trigger =
  | { readonly on: 'start' }
  /** The composer takes keys. */
  | { readonly on: 'ready' }
  | { readonly on: 'after'; readonly ms: number }
  /** A whole paste has been read, the nth one (from 1); without `nth`, each. */
  | { readonly on: 'paste'; readonly nth?: number }
  /** An Enter has arrived and is about to be read. */
  | { readonly on: 'enter'; readonly nth?: number }
  /** The model receives a prompt, the nth one, or one that holds `text`. */
  | { readonly on: 'prompt'; readonly nth?: number; readonly text?: string }
  | { readonly on: 'turn_end'; readonly nth?: number }
  | { readonly on: 'release'; readonly name: string };

export type Action =
  | { readonly do: 'open'; readonly dialog: DialogKind | DialogSpec }
  /** Closes the open dialog as a person elsewhere would: nobody's key answered it. */
  | { readonly do: 'close' }
  /** Stops reading stdin, drawing, or drawing in the middle of a frame. */
  | {
      readonly do: 'stall';
      readonly what: 'reading' | 'drawing' | 'mid_frame';
      readonly forMs?: number;
      readonly until?: string;
    }
  | { readonly do: 'resume' }
  | { readonly do: 'exit'; readonly code?: number }
  | { readonly do: 'crash' }
  /** The agent is gone and a shell has the terminal. */
  | { readonly do: 'shell' }
  /** A person types, without Enter. */
  | { readonly do: 'type'; readonly text: string }
  | { readonly do: 'clear' }
  | { readonly do: 'ghost'; readonly text: string | null }
  | { readonly do: 'bracketed_paste'; readonly on: boolean }
  | { readonly do: 'output'; readonly lines: readonly string[] }
  | { readonly do: 'swallow_enters'; readonly count: number }
  | { readonly do: 'rotate_record' }
  /** A tool boundary of the running turn: steering texts are consumed now. */
  | { readonly do: 'boundary' }
  | { readonly do: 'end_turn'; readonly outcome?: 'completed' | 'failed' | 'cancelled' }
  | { readonly do: 'release'; readonly name: string };

export interface PlanStep {
  readonly when: Trigger;
  readonly afterMs?: number;
  readonly actions: readonly Action[];
}

export interface TurnRule {
  /** The prompt holds this text; without it, every prompt. The first rule that fits wins. */
  readonly text?: string;
  /** How long the turn lasts; or until the named release. */
  readonly forMs?: number;
  readonly until?: string;
  /** Printed at the turn's start. */
  readonly output?: readonly string[];
  readonly answer?: string;
  readonly outcome?: 'completed' | 'failed';
}

export interface CollapseRule {
  /** More characters than this collapse; null: never by size. */
  readonly characters: number | null;
  /** More newlines than this collapse; null: never by lines. */
  readonly newlines: number | null;
  /** `sized`: `[Pasted Content 1200 chars]`; `numbered`: `[Pasted text #1 +3 lines]`. */
  readonly style: 'sized' | 'numbered';
}

/** Something that pops up under the composer and takes one Enter. */
export interface PopupRule {
  /** Opens while the draft's last word starts with this. */
  readonly token: string;
  /** What the eaten Enter does: nothing, or insert `insert`. */
  readonly enter: 'swallow' | 'insert';
  readonly insert: string;
  readonly afterMs: number;
}

export interface Look {
  readonly glyph: string;
  readonly placeholder: string;
  /** How the placeholder tells itself from a draft: dim, grey, or first drawn as plain text. */
  readonly ghostStyle: 'dim' | 'grey' | 'late';
  readonly cursor: 'inverse' | 'hardware';
  readonly maxComposerRows: number;
  readonly collapse: CollapseRule | null;
  readonly showQueue: boolean;
  readonly alternateScreen: boolean;
  readonly synchronizedOutput: boolean;
  /** OSC 0 with the state. */
  readonly title: boolean;
  /** OSC 7501 with the state. */
  readonly programState: boolean;
  readonly spinnerMs: number;
}

export interface Timing {
  /** Until the composer takes keys. */
  readonly startMs: number;
  /** What becomes of input that arrives before: kept as a draft with its Enters lost, taken later, or lost. */
  readonly earlyInput: 'draft' | 'buffer' | 'ignored';
  /** When mode 2004 goes on; null: never. */
  readonly bracketedPasteMs: number | null;
  /** Spent on each key or paste before the next is read. */
  readonly keyMs: number;
  /** From a change to the frame that shows it. */
  readonly echoMs: number;
}

export interface RecordOptions {
  readonly write: boolean;
  /** From the event to its line in the record. */
  readonly delayMs: number;
  /** Kinds that never reach the record. */
  readonly omit: readonly RecordKind[];
  /** Lines are held in pairs and written last first. */
  readonly outOfOrder: boolean;
  /** Each line is written in two halves, this far apart; null: whole. */
  readonly splitMs: number | null;
  /** Moves to a new file after so many lines; null: never by itself. */
  readonly rotateAfter: number | null;
}

export type RecordKind =
  | 'session'
  | 'accepted'
  | 'consumed'
  | 'turn_started'
  | 'turn_ended'
  | 'withdrawn'
  | 'rotated';

export interface SimulatedScript {
  readonly version: string;
  readonly busyRule: BusyRule;
  readonly look: Look;
  readonly timing: Timing;
  readonly turns: readonly TurnRule[];
  /** The time between tool boundaries of a turn; null: only where the plan says so. */
  readonly boundaryMs: number | null;
  /** Queued texts a turn's end takes: one a turn, or all in one turn. */
  readonly drain: 'one' | 'all';
  readonly popups: readonly PopupRule[];
  readonly swallowEnters: number;
  /** A person's unsent text at the start. */
  readonly draft: string;
  /** A stashed draft that comes back after the next submit. */
  readonly stash: string | null;
  readonly record: RecordOptions;
  readonly plan: readonly PlanStep[];
}

/** A script as it is written down: what is left out takes its default. */
export interface ScriptInput {
  readonly version?: string;
  readonly busyRule?: BusyRule;
  readonly look?: Partial<Omit<Look, 'collapse'>> & {
    readonly collapse?: Partial<CollapseRule> | null;
  };
  readonly timing?: Partial<Timing>;
  readonly turns?: readonly TurnRule[];
  readonly boundaryMs?: number | null;
  readonly drain?: 'one' | 'all';
  readonly popups?: readonly (Partial<PopupRule> & { readonly token: string })[];
  readonly swallowEnters?: number;
  readonly draft?: string;
  readonly stash?: string | null;
  readonly record?: Partial<RecordOptions>;
  readonly plan?: readonly PlanStep[];
}
