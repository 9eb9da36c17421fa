import { CodedError } from '@ostler/runtime';
import { Screen, type ScreenSnapshot } from '@ostler/terminal';
import type { EngineReader } from '../engine.js';
import type { Reading } from '../reading.js';
import { type Cast, loadCast } from './cast.js';

/**
 * Seconds from the recording's start (what came at that very instant is
 * included), the label of a mark in it, or `end`.
 */
export type Moment = number | string;

/** Throws CodedError CAST_MARK_MISSING. */
export function momentSeconds(cast: Cast, at: Moment): number {
  if (typeof at === 'number') return at;
  if (at === 'end') return Number.POSITIVE_INFINITY;
  const mark = cast.events.find((event) => event.kind === 'm' && event.data === at);
  if (mark) return mark.atSeconds;
  throw new CodedError('CAST_MARK_MISSING', `The recording has no mark “${at}”; name one it has.`);
}

/**
 * The real headless screen of a recording at each moment, in one pass. Moments
 * have to be in order, `end` last.
 */
export async function* replayScreens(
  recording: string | Cast,
  moments: Iterable<Moment>,
): AsyncGenerator<ScreenSnapshot, void, void> {
  const cast = typeof recording === 'string' ? await loadCast(recording) : recording;
  using screen = new Screen({ cols: cast.header.width, rows: cast.header.height });
  let next = 0;
  for (const moment of moments) {
    const untilSeconds = momentSeconds(cast, moment);
    for (; next < cast.events.length; next += 1) {
      const event = cast.events[next];
      if (!event || event.atSeconds > untilSeconds) break;
      if (event.kind === 'o') screen.feed(event.data);
      if (event.kind === 'r') {
        await screen.look();
        screen.resize(event.cols, event.rows);
      }
    }
    yield await screen.look();
  }
}

/** What `reader` says of a recording at one moment. */
export async function replayCast(
  recording: string | Cast,
  reader: EngineReader,
  options: { readonly at: Moment },
): Promise<Reading> {
  for await (const snapshot of replayScreens(recording, [options.at])) return reader.read(snapshot);
  throw new RangeError('a replay of one moment yields one screen');
}
