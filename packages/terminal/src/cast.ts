/** Asciicast v2: one JSON header line, then one JSON array a line. */
export interface CastHeader {
  readonly width: number;
  readonly height: number;
  /** Seconds since the Unix epoch. */
  readonly timestamp?: number;
  readonly title?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** `o` output, `i` input, `m` mark, `r` resize; `atSeconds` counts from the start. */
export type CastEvent =
  | { readonly kind: 'o' | 'i' | 'm'; readonly atSeconds: number; readonly data: string }
  | {
      readonly kind: 'r';
      readonly atSeconds: number;
      readonly cols: number;
      readonly rows: number;
    };

export type CastErrorCode =
  | 'CAST_FILE_EXISTS'
  | 'CAST_OPEN_FAILED'
  /** The first line is no asciicast v2 header. */
  | 'CAST_BAD_HEADER'
  /** A line is no event of a kind we know, or goes back in time. */
  | 'CAST_BAD_EVENT'
  | 'CAST_LINE_TOO_LONG'
  | 'CAST_TOO_MANY_EVENTS'
  /** The last line has no end: the recording was cut off while it was written. */
  | 'CAST_CUT_OFF';
