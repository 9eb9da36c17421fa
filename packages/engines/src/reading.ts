/** A paste the engine shows as a marker instead of its text. */
export interface CollapseMarker {
  /** The marker as it stands on screen. */
  readonly label: string;
  /** Size the marker states, where it states one. */
  readonly characters: number | null;
  readonly lines: number | null;
}

export interface Composer {
  /** Unsent text as far as it is visible: rows joined by LF, the engine's prefix and indent removed. Empty when there is none. */
  readonly draft: string;
  /** The draft's visible rows, before any guess at wrapping. */
  readonly rows: readonly string[];
  /** Placeholder or suggestion shown where a draft would stand; never part of the draft. */
  readonly ghost: string | null;
  readonly collapsed: readonly CollapseMarker[];
  /** Draft rows the engine says it hides. */
  readonly hiddenRows: { readonly above: number; readonly below: number };
}

export interface QuestionPrompt {
  readonly header: string | null;
  readonly text: string;
  readonly options: readonly string[];
  readonly multiSelect: boolean;
}

/** A question dialog as it is readable now. */
export interface OpenQuestion {
  /** Equal while the same question stands on the screen. */
  readonly fingerprint: string;
  readonly prompts: readonly QuestionPrompt[];
}

export interface ReadingSignal {
  /** What was said, e.g. `title`, `program_state`, `status_file`. */
  readonly source: string;
  readonly value: string;
  readonly atMs: number;
}

/**
 * What an engine folder says of one snapshot. A screen it doesn't know is
 * `readable: false`, and nobody types on it.
 */
export interface Reading {
  readonly readable: boolean;
  /** Null where there is no composer that would take keys. */
  readonly composer: Composer | null;
  /** The name of the dialog or state that forbids typing, or null. */
  readonly hold: string | null;
  readonly busy: boolean;
  /** Texts the engine shows as queued, in order, as far as visible. */
  readonly queue: readonly string[];
  readonly question: OpenQuestion | null;
  readonly signals: readonly ReadingSignal[];
}

export const unreadable: Reading = {
  readable: false,
  composer: null,
  hold: null,
  busy: false,
  queue: [],
  question: null,
  signals: [],
};
