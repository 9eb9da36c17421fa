import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CastEvent, CastHeader } from '../cast.js';
import { parseCast } from '../cast-reader.js';

const folder: string = join(import.meta.dirname, '../../../../fixtures');

export interface Recording {
  readonly name: string;
  readonly header: CastHeader;
  readonly events: readonly CastEvent[];
  /** All of its output. */
  readonly output: Uint8Array;
}

/** The repository's recordings, smallest first. */
export function recordings(count: number): readonly Recording[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.cast'),
  );
  return names
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }))
    .sort((a, b) => a.bytes.length - b.bytes.length || a.name.localeCompare(b.name))
    .slice(0, count)
    .map(({ name, bytes }) => {
      const { header, events } = parseCast(bytes);
      const texts = events.map((event) => (event.kind === 'o' ? event.data : ''));
      return { name, header, events, output: Buffer.from(texts.join('')) };
    });
}
