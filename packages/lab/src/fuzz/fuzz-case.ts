/** Bytes of a stream, one character a byte (Latin-1), so that a case can be kept as readable JSON. */
export type ByteText = string;

/** Terminal output made up from nothing; a pair is a new size. */
export interface GarbageCase {
  readonly kind: 'garbage';
  readonly cols: number;
  readonly rows: number;
  /** True where no byte was chosen: then no reading at all may let anybody type. */
  readonly blind: boolean;
  readonly pieces: readonly (ByteText | readonly [cols: number, rows: number])[];
}

/** One change in the bytes of a recording, at an offset of the unchanged ones. */
export type ByteEdit =
  | { readonly do: 'drop'; readonly at: number; readonly count: number }
  | { readonly do: 'put'; readonly at: number; readonly bytes: ByteText }
  | { readonly do: 'set'; readonly at: number; readonly bytes: ByteText }
  | { readonly do: 'again'; readonly at: number; readonly count: number };

/** What is done to the composer on the screen a recording ends with. */
export type Strike = 'glyph' | 'cursor' | 'upper_rule' | 'lower_rule' | 'brackets';

/** The first bytes of a recording, changed. */
export interface RecordingCase {
  readonly kind: 'recording';
  /** Below `fixtures/`, without `.cast`. */
  readonly recording: string;
  readonly untilBytes: number;
  readonly strike: Strike | null;
  readonly edits: readonly ByteEdit[];
}

export type RecordEngine = 'claude' | 'codex';

/** One change in the lines of a record. */
export type LineEdit =
  | { readonly do: 'drop'; readonly line: number }
  | { readonly do: 'again'; readonly line: number }
  | { readonly do: 'not_utf8'; readonly line: number }
  | { readonly do: 'move'; readonly line: number; readonly to: number }
  | { readonly do: 'cut'; readonly line: number; readonly characters: number }
  | { readonly do: 'huge'; readonly line: number; readonly characters: number }
  | { readonly do: 'deep'; readonly line: number; readonly levels: number }
  /** Puts a value of another type at a path. */
  | {
      readonly do: 'retype';
      readonly line: number;
      readonly path: readonly string[];
      readonly json: string;
    }
  | { readonly do: 'proto'; readonly line: number };

export interface RecordsCase {
  readonly kind: 'records';
  readonly engine: RecordEngine;
  /** Number of the made-up session, or the name of a record below `fixtures/`. */
  readonly session: number | string;
  readonly edits: readonly LineEdit[];
}

export interface BodiesCase {
  readonly kind: 'bodies';
  readonly cols: number;
  readonly rows: number;
  /** UTF-16 units, since half a pair is a case too. */
  readonly texts: readonly string[];
}

/** Requests as the JSON text of their frames, and what each has to be answered with. */
export interface FramesCase {
  readonly kind: 'frames';
  readonly frames: readonly FrameCase[];
}

export interface FrameCase {
  readonly text: string;
  /** The first check that fails, in the order of the contract; null: a good request; absent: anything. */
  readonly expected?: { readonly code: string; readonly says: string } | null;
}

/** A stream of frames, cut at these places. */
export interface FramingCase {
  readonly kind: 'framing';
  readonly maxFrameBytes: number;
  readonly pieces: readonly ByteText[];
  readonly cuts: readonly number[];
}

export type FuzzCase =
  | GarbageCase
  | RecordingCase
  | RecordsCase
  | BodiesCase
  | FramesCase
  | FramingCase;

export type FuzzKind = FuzzCase['kind'];

/** What was tried. */
export interface FuzzTally {
  /** Terminal output, each byte counted once however often it was fed. */
  bytes: number;
  /** Protocol requests and frames of streams. */
  frames: number;
  /** Lines of records. */
  records: number;
  bodies: number;
}

/** Null where everything holds, else what doesn't, in one line. */
export type Verdict = string | null;

export const noTally = (): FuzzTally => ({ bytes: 0, frames: 0, records: 0, bodies: 0 });

export function toBytes(text: ByteText): Uint8Array {
  return Buffer.from(text, 'latin1');
}
