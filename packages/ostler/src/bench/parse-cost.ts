import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { EngineReader } from '@ostler/engines';
import { type Cast, loadCast } from '@ostler/engines/recordings';
import { Screen } from '@ostler/terminal';
import headless from '@xterm/headless';
import { builtInEngines } from '../built-in-engines.js';
import { spreadOf } from './statistics.js';

export interface ParseCost {
  readonly recordings: number;
  readonly chunks: number;
  readonly bursts: number;
  readonly bytes: number;
  /** Processor time of bare parsing. */
  readonly bareMs: number;
  /** Over bare parsing: a snapshot after each burst of output, and a reading as often as a session with nothing under way takes one. */
  readonly idleRatio: number;
  /** A snapshot and a reading after each burst, as while an input is being typed. */
  readonly perBurstRatio: number;
  /** The same after each chunk: the worst there can be. */
  readonly perChunkRatio: number;
}

/** Output this close together is read in one go and looked at once. */
const burstGapMs = 1;
/** As in the session controller. */
const idleLookIntervalMs = 100;
const rounds = 7;

interface Recording {
  readonly cast: Cast;
  readonly reader: EngineReader;
  readonly chunks: readonly Chunk[];
}

interface Chunk {
  readonly data: string;
  /** The last of its burst. */
  readonly ends: boolean;
  /** The last of its burst, with the next idle look due. */
  readonly looks: boolean;
}

/** Everything an engine's recordings hold, bare and with a look each time; the median of several rounds. */
export async function measureParse(
  fixturesDir: string,
  engineIds: readonly string[],
): Promise<ParseCost | null> {
  const recordings = await loadRecordings(fixturesDir, engineIds);
  if (recordings.length === 0) return null;
  const ratios: Record<'idle' | 'burst' | 'chunk', number[]> = { idle: [], burst: [], chunk: [] };
  const bare: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const bareMs = await processorMs(() => parseBare(recordings));
    const over = {
      idle: await processorMs(() => parseAndRead(recordings, ({ ends }) => ends, looksOf)),
      burst: await processorMs(() => parseAndRead(recordings, endsOf, endsOf)),
      chunk: await processorMs(() => parseAndRead(recordings, always, always)),
    };
    // The first round warms the code up.
    if (round < 0) continue;
    bare.push(bareMs);
    for (const how of ['idle', 'burst', 'chunk'] as const) ratios[how].push(over[how] / bareMs);
  }
  const chunks = recordings.flatMap((recording) => recording.chunks);
  return {
    recordings: recordings.length,
    chunks: chunks.length,
    bursts: chunks.filter(({ ends }) => ends).length,
    bytes: chunks.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0),
    bareMs: spreadOf(bare)?.median ?? 0,
    idleRatio: spreadOf(ratios.idle)?.median ?? 0,
    perBurstRatio: spreadOf(ratios.burst)?.median ?? 0,
    perChunkRatio: spreadOf(ratios.chunk)?.median ?? 0,
  };
}

async function loadRecordings(
  fixturesDir: string,
  engineIds: readonly string[],
): Promise<Recording[]> {
  const files = readdirSync(fixturesDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.cast'))
    .sort();
  const recordings: Recording[] = [];
  for (const file of files) {
    const engineId = dirname(dirname(file));
    const engine = builtInEngines.find(({ id }) => id === engineId);
    if (!engine || !engineIds.includes(engineId)) continue;
    const cast = await loadCast(join(fixturesDir, file));
    const output = cast.events.flatMap((event) => (event.kind === 'o' ? [event] : []));
    const reader = engine.reader(basename(dirname(file)));
    recordings.push({ cast, reader, chunks: chunksOf(output) });
  }
  return recordings;
}

function chunksOf(
  output: readonly { readonly atSeconds: number; readonly data: string }[],
): Chunk[] {
  let lookDueMs = 0;
  return output.map(({ atSeconds, data }, index) => {
    const next = output[index + 1];
    const ends = next === undefined || (next.atSeconds - atSeconds) * 1_000 >= burstGapMs;
    const looks = ends && atSeconds * 1_000 >= lookDueMs;
    if (looks) lookDueMs = atSeconds * 1_000 + idleLookIntervalMs;
    return { data, ends, looks };
  });
}

const endsOf = ({ ends }: Chunk): boolean => ends;
const looksOf = ({ looks }: Chunk): boolean => looks;
const always = (): boolean => true;

/**
 * Of all threads, the collector's included: others on the machine don't count. No collection
 * is asked for in between: it would throw away the code made for what it collects.
 */
async function processorMs(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1_000;
}

/** One wait for each recording, not for each chunk: as fast as the public API goes. */
async function parseBare(recordings: readonly Recording[]): Promise<void> {
  for (const { cast, chunks } of recordings) {
    const { height: rows, width: cols } = cast.header;
    const terminal = new headless.Terminal({
      cols,
      rows,
      scrollback: 0,
      allowProposedApi: true,
      logLevel: 'off',
    });
    for (const { data } of chunks) terminal.write(data);
    await new Promise<void>((resolve) => terminal.write('', resolve));
    terminal.dispose();
  }
}

async function parseAndRead(
  recordings: readonly Recording[],
  snapshots: (chunk: Chunk) => boolean,
  reads: (chunk: Chunk) => boolean,
): Promise<void> {
  for (const { cast, chunks, reader } of recordings) {
    const { height: rows, width: cols } = cast.header;
    using screen = new Screen({ cols, rows });
    for (const chunk of chunks) {
      screen.feed(chunk.data);
      if (!snapshots(chunk)) continue;
      const snapshot = await screen.look();
      if (reads(chunk)) reader.read(snapshot);
    }
  }
}
