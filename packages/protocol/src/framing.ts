import { maxFrameBytes } from './constants.js';

export interface FrameSplitterOptions {
  /** One frame, newline not counted. */
  readonly maxFrameBytes?: number;
}

export type SplitFrame =
  | { readonly kind: 'frame'; readonly text: string }
  /** The stream can't be followed any further; the connection must end. */
  | { readonly kind: 'too_large' }
  | { readonly kind: 'not_utf8' };

export interface FrameSplitter {
  /**
   * Takes a chunk as it was read and gives the frames it completes, in order; empty lines are
   * none. Behind `too_large` nothing more is given. Keeps at most one frame.
   */
  push(chunk: Uint8Array): readonly SplitFrame[];
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Splits newline-delimited frames, however their bytes were cut on the way. */
export function createFrameSplitter(options: FrameSplitterOptions = {}): FrameSplitter {
  const limitBytes = options.maxFrameBytes ?? maxFrameBytes;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let parts: Uint8Array[] = [];
  let heldBytes = 0;
  let ended = false;

  const finish = (last: Uint8Array): SplitFrame | null => {
    const whole = parts.length === 0 ? last : joined(parts, last, heldBytes + last.length);
    parts = [];
    heldBytes = 0;
    const line = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole;
    if (line.length === 0) return null;
    try {
      return { kind: 'frame', text: decoder.decode(line) };
    } catch {
      return { kind: 'not_utf8' };
    }
  };

  return {
    push(chunk) {
      const frames: SplitFrame[] = [];
      for (let from = 0; from < chunk.length && !ended; ) {
        const at = chunk.indexOf(newline, from);
        const end = at === -1 ? chunk.length : at;
        if (heldBytes + (end - from) > limitBytes) {
          ended = true;
          parts = [];
          frames.push({ kind: 'too_large' });
          break;
        }
        const piece = chunk.subarray(from, end);
        if (at === -1) {
          if (piece.length > 0) parts.push(piece.slice());
          heldBytes += piece.length;
        } else {
          const frame = finish(piece);
          if (frame) frames.push(frame);
        }
        from = end + 1;
      }
      return frames;
    },
  };
}

/** One frame on the wire, newline included. */
export function frameOf(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

function joined(parts: readonly Uint8Array[], last: Uint8Array, bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of [...parts, last]) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
