import { readFile } from 'node:fs/promises';
import { type CastEvent, type CastHeader, parseCast } from '@ostler/terminal';

/** A terminal recording, asciicast v2. */
export interface Cast {
  readonly header: CastHeader;
  readonly events: readonly CastEvent[];
}

/** Throws what `parseCast` of `@ostler/terminal` throws. */
export async function loadCast(path: string): Promise<Cast> {
  return parseCast(await readFile(path));
}
