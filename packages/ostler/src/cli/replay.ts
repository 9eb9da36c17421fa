import type { Engine, Reading } from '@ostler/engines';
import type { Moment } from '@ostler/engines/recordings';
import { CodedError } from '@ostler/runtime';
import { InvalidArgumentError } from 'commander';
import { builtInEngines } from '../built-in-engines.js';
import type { Output } from './output.js';

export interface ReplayOptions {
  readonly engine: string;
  readonly version?: string;
  readonly at: Moment;
  readonly json?: boolean;
}

/** What `ostler replay --json` prints. */
export type ReplayedReading = Pick<
  Reading,
  'readable' | 'composer' | 'hold' | 'busy' | 'queue' | 'signals'
>;

export function parseMoment(value: string): Moment {
  if (value === 'end') return 'end';
  const seconds = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(seconds) || seconds < 0) {
    throw new InvalidArgumentError('give seconds from the start (such as 3.2), or "end".');
  }
  return seconds;
}

/** Prints what an engine reads on a recording's screen at one moment. */
export async function replay(cast: string, options: ReplayOptions, output: Output): Promise<void> {
  const { replayCast } = await import('@ostler/engines/recordings');
  const { readable, composer, hold, busy, queue, signals } = await replayCast(
    cast,
    findEngine(options.engine).reader(options.version ?? null),
    { at: options.at },
  );
  const reading: ReplayedReading = { readable, composer, hold, busy, queue, signals };
  if (options.json) output.json(reading);
  else output.lines(describe(reading));
}

function findEngine(id: string): Engine {
  const engine = builtInEngines.find((candidate) => candidate.id === id);
  if (engine) return engine;
  const known = builtInEngines.map((candidate) => candidate.id).join(', ');
  throw new CodedError('ENGINE_UNKNOWN', `there is no engine "${id}"; use one of: ${known}`);
}

function describe(reading: ReplayedReading): readonly (readonly [string, string])[] {
  const { composer } = reading;
  return [
    ['readable', reading.readable ? 'yes' : 'no: nobody types on this screen'],
    ['hold', reading.hold ?? '–'],
    ['busy', reading.busy ? 'yes' : 'no'],
    ['composer', composer === null ? '–' : composer.draft === '' ? '(empty)' : composer.draft],
    ...(composer?.ghost ? ([['ghost', composer.ghost]] as const) : []),
    ...(composer?.collapsed ?? []).map(({ label }) => ['collapsed', label] as const),
    ...reading.queue.map((text) => ['queued', text] as const),
    ...reading.signals.map(({ source, value }) => [`signal ${source}`, value] as const),
  ];
}
