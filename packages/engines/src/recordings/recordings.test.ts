import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../engine.js';
import { loadCast } from './cast.js';
import { replayScreens } from './replay.js';
import { findFixtures, inOrder } from './side-file.js';

const root = fileURLToPath(new URL('../../../../fixtures/', import.meta.url));
const fixtures = await findFixtures(root);

/** The engine of a side file, from the folder that has its name, else from the generic one. */
async function engineOf(id: string): Promise<Engine> {
  const folders = import.meta.glob<Record<string, unknown>>('../{claude,codex,generic}/index.ts');
  const load = folders[`../${id}/index.ts`] ?? folders['../generic/index.ts'];
  const engine = Object.values((await load?.()) ?? {})
    .flat()
    .find((value): value is Engine => (value as Partial<Engine>)?.id === id);
  if (!engine) throw new Error(`no engine folder exports an engine with the id ${id}`);
  return engine;
}

test('there are recordings', () => {
  expect(fixtures.length).toBeGreaterThan(0);
});

describe.each(fixtures)('$name', ({ castPath, side }) => {
  test('reads as its side file says at every moment', async () => {
    const cast = await loadCast(castPath);
    expect({ cols: cast.header.width, rows: cast.header.height }).toEqual({
      cols: side.cols,
      rows: side.rows,
    });
    const reader = (await engineOf(side.engine)).reader(side.version);
    const moments = inOrder(cast, side.moments);
    const screens = replayScreens(
      cast,
      moments.map((moment) => moment.at),
    );
    for (const moment of moments) {
      const { value: snapshot } = await screens.next();
      if (!snapshot) throw new Error('a replay yields one screen a moment');
      expect
        .soft(reader.read(snapshot), `${moment.at}: ${moment.why}`)
        .toMatchObject(moment.expect);
    }
  });
});
