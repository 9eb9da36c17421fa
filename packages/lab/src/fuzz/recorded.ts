import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineReader } from '@ostler/engines';
import { claudeEngine } from '@ostler/engines/claude';
import { codexEngine } from '@ostler/engines/codex';
import { parseCast } from '@ostler/terminal';

/** The repository's `fixtures/`, from the sources and from what is built of them. */
export const fixturesDir: string = join(import.meta.dirname, '..', '..', '..', '..', 'fixtures');

export interface Recorded {
  readonly name: string;
  readonly reader: EngineReader;
  readonly cols: number;
  readonly rows: number;
  /** All output; where the size changed in between, the offset at which it did. */
  readonly bytes: Uint8Array;
  readonly resizes: readonly { readonly at: number; readonly size: readonly [number, number] }[];
}

const engines = { claude: claudeEngine, codex: codexEngine };
const known = new Map<string, Recorded>();

/** Names of the recordings of both engines, in one order on every machine. */
export function recordingNames(): readonly [string, ...string[]] {
  const names = (Object.keys(engines) as (keyof typeof engines)[])
    .flatMap((engine) =>
      readdirSync(join(fixturesDir, engine), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.cast'))
        .map((name) => `${engine}/${name.slice(0, -'.cast'.length)}`),
    )
    .sort();
  const [first, ...rest] = names;
  if (first === undefined) throw new Error('there are no recordings in fixtures/');
  return [first, ...rest];
}

export function recorded(name: string): Recorded {
  const before = known.get(name);
  if (before) return before;
  const [engine = '', version = ''] = name.split('/');
  const { header, events } = parseCast(readFileSync(join(fixturesDir, `${name}.cast`)));
  const parts: Buffer[] = [];
  const resizes: Recorded['resizes'][number][] = [];
  let at = 0;
  for (const event of events) {
    if (event.kind === 'r') resizes.push({ at, size: [event.cols, event.rows] });
    if (event.kind !== 'o') continue;
    const part = Buffer.from(event.data);
    parts.push(part);
    at += part.length;
  }
  const read: Recorded = {
    name,
    reader: engines[engine === 'codex' ? 'codex' : 'claude'].reader(version),
    cols: header.width,
    rows: header.height,
    bytes: Buffer.concat(parts),
    resizes,
  };
  known.set(name, read);
  return read;
}
