import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Cast } from './cast.js';
import { type Moment, momentSeconds } from './replay.js';

export interface ExpectedMoment {
  readonly at: Moment;
  readonly why: string;
  /** Part of a Reading; what is left out may be anything. */
  readonly expect: Readonly<Record<string, unknown>>;
}

/** What a recording is expected to read as, moment by moment. */
export interface SideFile {
  readonly engine: string;
  readonly version: string;
  readonly cols: number;
  readonly rows: number;
  /** One sentence: how the recording was made. */
  readonly made: string;
  readonly moments: readonly ExpectedMoment[];
}

const schema: z.ZodType<SideFile> = z.strictObject({
  engine: z.string(),
  version: z.string(),
  cols: z.number().int(),
  rows: z.number().int(),
  made: z.string().min(10),
  moments: z
    .array(
      z.strictObject({
        at: z.union([z.number().min(0), z.string().min(1)]),
        why: z.string().min(1),
        expect: z.record(z.string(), z.unknown()),
      }),
    )
    .min(1),
});

export interface RecordingFixture {
  readonly name: string;
  readonly castPath: string;
  readonly side: SideFile;
}

/** Every `*.readings.json` under `root`, with the recording beside it. */
export async function findFixtures(root: string): Promise<RecordingFixture[]> {
  const names = await readdir(root, { recursive: true });
  const found = names.filter((name) => name.endsWith('.readings.json')).sort();
  return Promise.all(
    found.map(async (name) => ({
      name: name.replace(/\.readings\.json$/, ''),
      castPath: join(root, name.replace(/\.readings\.json$/, '.cast')),
      side: schema.parse(JSON.parse(await readFile(join(root, name), 'utf8'))),
    })),
  );
}

/** Moments in the order they are replayed. */
export function inOrder(cast: Cast, moments: readonly ExpectedMoment[]): readonly ExpectedMoment[] {
  return moments.toSorted((a, b) => momentSeconds(cast, a.at) - momentSeconds(cast, b.at));
}
