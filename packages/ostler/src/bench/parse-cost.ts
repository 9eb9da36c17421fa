import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { EngineReader } from '@ostler/engines';
import { type Cast, loadCast } from '@ostler/engines/recordings';
import { type Clock, systemClock } from '@ostler/runtime';
import { Screen } from '@ostler/terminal';
import headless from '@xterm/headless';
import { builtInEngines } from '../built-in-engines.js';
import { spreadOf } from './statistics.js';

export interface ParseCost {
  readonly recordings: number;
  readonly chunks: number;
  readonly bursts: number;
  readonly bytes: number;
  readonly bareMs: number;
  /** Parsing, and a snapshot with a reading after each burst of output, over bare parsing. */
  readonly perBurstRatio: number;
  /** The same after each chunk: the worst there can be. */
  readonly perChunkRatio: number;
}

/** Output this close together is read in one go and looked at once. */
const burstGapMs = 1;
const rounds = 7;

interface Recording {
  readonly cast: Cast;
  readonly reader: EngineReader;
  /** Output chunks; `ends` is true for the last of its burst. */
  readonly chunks: readonly { readonly data: string; readonly ends: boolean }[];
}

/** Everything an engine's recordings hold, bare and with a look each time; the median of several rounds. */
export async function measureParse(
  fixturesDir: string,
  engineIds: readonly string[],
  clock: Clock = systemClock,
): Promise<ParseCost | null> {
  const recordings = await loadRecordings(fixturesDir, engineIds);
  if (recordings.length === 0) return null;
  const bare: number[] = [];
  const burst: number[] = [];
  const chunk: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const times = {
      bare: await timed(clock, () => parseBare(recordings)),
      burst: await timed(clock, () => parseAndRead(recordings, (ends) => ends)),
      chunk: await timed(clock, () => parseAndRead(recordings, () => true)),
    };
    // The first round warms the code up.
    if (round < 0) continue;
    bare.push(times.bare);
    burst.push(times.burst / times.bare);
    chunk.push(times.chunk / times.bare);
  }
  const chunks = recordings.flatMap((recording) => recording.chunks);
  return {
    recordings: recordings.length,
    chunks: chunks.length,
    bursts: chunks.filter(({ ends }) => ends).length,
    bytes: chunks.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0),
    bareMs: spreadOf(bare)?.median ?? 0,
    perBurstRatio: spreadOf(burst)?.median ?? 0,
    perChunkRatio: spreadOf(chunk)?.median ?? 0,
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
    recordings.push({
      cast,
      reader: engine.reader(basename(dirname(file))),
      chunks: output.map(({ atSeconds, data }, index) => {
        const next = output[index + 1];
        const ends = next === undefined || (next.atSeconds - atSeconds) * 1_000 >= burstGapMs;
        return { data, ends };
      }),
    });
  }
  return recordings;
}

async function timed(clock: Clock, run: () => Promise<void>): Promise<number> {
  globalThis.gc?.();
  const before = clock.monotonicMs();
  await run();
  return clock.monotonicMs() - before;
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
  looks: (ends: boolean) => boolean,
): Promise<void> {
  for (const { cast, chunks, reader } of recordings) {
    const { height: rows, width: cols } = cast.header;
    using screen = new Screen({ cols, rows });
    for (const { data, ends } of chunks) {
      screen.feed(data);
      if (looks(ends)) reader.read(await screen.look());
    }
  }
}
