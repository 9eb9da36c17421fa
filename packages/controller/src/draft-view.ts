import type { BodyVerdict, EngineReader, PreparedBody, Reading } from '@ostler/engines';
import type { ScreenSnapshot } from '@ostler/terminal';
import type { Observation } from './observation.js';

/** What the last Enter is compared against. */
export interface EnterMark {
  readonly bytesParsed: number;
  readonly queuedCopies: number;
}

/** Reduces one reading to what the machine decides by, for the active input if there is one. */
export function observeReading(
  reader: EngineReader,
  snapshot: ScreenSnapshot,
  reading: Reading,
  body: BodyVerdict | null,
  accepted: PreparedBody | null,
  mark: EnterMark | null,
  moment: Pick<
    Observation,
    'alive' | 'busyAtMs' | 'personTyped' | 'personTypedAgoMs' | 'atMs' | 'nowMs'
  >,
): Observation {
  const halfPainted = snapshot.modes.synchronizedOutput;
  const prepared = body?.kind === 'ready' ? body.body : null;
  const composer = reading.composer !== null;
  const draft = prepared
    ? reader.matchDraft(reading, prepared, snapshot)
    : reading.composer && (reading.composer.draft !== '' || reading.composer.collapsed.length > 0)
      ? 'other'
      : 'empty';
  return {
    alive: moment.alive,
    readable: reading.readable && !halfPainted,
    hold: reading.hold,
    overtakes: reader.overtakes?.(reading) ?? null,
    composer,
    draft,
    draftIsAccepted:
      draft !== 'empty' &&
      accepted !== null &&
      reader.matchDraft(reading, accepted, snapshot) === 'exact',
    busy: reading.busy,
    busyAtMs: moment.busyAtMs,
    queueShowsActive:
      prepared !== null &&
      queuedCopies(reading.queue, prepared.text) > (mark?.queuedCopies ?? Number.POSITIVE_INFINITY),
    personTyped: moment.personTyped,
    personTypedAgoMs: moment.personTypedAgoMs,
    newerThanEnter: mark !== null && snapshot.bytesParsed > mark.bytesParsed,
    stashed: reading.signals.some(({ source }) => source === 'stash'),
    refusal: refusalOf(body, snapshot),
    atMs: moment.atMs,
    nowMs: moment.nowMs,
  };
}

function refusalOf(body: BodyVerdict | null, snapshot: ScreenSnapshot): Observation['refusal'] {
  if (body?.kind === 'refused') return { reason: body.reason, message: body.message };
  if (
    body?.kind === 'ready' &&
    !snapshot.modes.bracketedPaste &&
    body.body.frames.some((frame) => frame.includes('\n'))
  ) {
    return {
      reason: 'no_bracketed_paste',
      message:
        'the agent does not take bracketed pastes now, so a text of several lines would be submitted line by line; send one line',
    };
  }
  return null;
}

const squash = (text: string): string => text.replace(/\s+/gu, '');

/** How many of the shown queue entries are (the beginning of) `text`; engines cut long ones. */
export function queuedCopies(queue: readonly string[], text: string): number {
  if (queue.length === 0) return 0;
  const whole = squash(text);
  return queue.filter((entry) => {
    const shown = squash(entry).replace(/(…|\.\.\.)$/u, '');
    return shown.length > 0 && whole.startsWith(shown);
  }).length;
}
