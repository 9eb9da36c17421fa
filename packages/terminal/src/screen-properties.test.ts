import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Screen } from './screen.js';
import type { ScreenSnapshot } from './snapshot.js';
import { recordings } from './testing/recordings.js';
import { ReferenceScreen, terminalWords } from './testing/reference-screen.js';

const [cols, rows] = [40, 8];

function cut(data: Uint8Array, points: readonly number[]): Uint8Array[] {
  const borders = [0, ...points.map((point) => point % (data.length + 1)), data.length];
  borders.sort((a, b) => a - b);
  return borders.slice(1).map((to, index) => data.subarray(borders[index], to));
}

/** What is on the screen, times left out. */
function visible(snapshot: ScreenSnapshot): unknown {
  const { revision: _r, atMs: _a, signals, ...rest } = snapshot;
  return { ...rest, title: signals.title?.text, state: signals.programState?.state };
}

const output: fc.Arbitrary<Uint8Array> = fc
  .array(fc.constantFrom(...terminalWords), { maxLength: 60 })
  .map((words) => Buffer.from(words.join('')));

describe('synthetic output', () => {
  test('after any prefix the incremental snapshot equals a full reading', async () => {
    await fc.assert(
      fc.asyncProperty(output, fc.array(fc.nat(), { maxLength: 12 }), async (data, points) => {
        using screen = new Screen({ cols, rows });
        using reference = new ReferenceScreen(cols, rows);
        let last: ScreenSnapshot | undefined;
        for (const chunk of cut(data, points)) {
          screen.feed(chunk);
          const snapshot = await screen.look();
          expect(snapshot.rows).toEqual(await reference.rowsAfter(chunk));
          if (last && JSON.stringify(visible(last)) !== JSON.stringify(visible(snapshot)))
            expect(
              snapshot.revision > last.revision || snapshot.bytesParsed > last.bytesParsed,
            ).toBe(true);
          if (last && last.revision === snapshot.revision)
            expect({ ...(visible(snapshot) as object), bytesParsed: 0 }).toEqual({
              ...(visible(last) as object),
              bytesParsed: 0,
            });
          last = snapshot;
        }
      }),
      { numRuns: 60 },
    );
  });

  test('resizes in between change nothing of that', async () => {
    const step = fc.oneof(
      output,
      fc.record({ cols: fc.integer({ min: 2, max: 60 }), rows: fc.integer({ min: 1, max: 12 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        using screen = new Screen({ cols, rows });
        using reference = new ReferenceScreen(cols, rows);
        for (const next of steps) {
          if (next instanceof Uint8Array) screen.feed(next);
          else {
            screen.resize(next.cols, next.rows);
            reference.terminal.resize(next.cols, next.rows);
          }
          const snapshot = await screen.look();
          expect(snapshot.rows).toEqual(
            await reference.rowsAfter(next instanceof Uint8Array ? next : ''),
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  test('any chunking ends in the same snapshot', async () => {
    await fc.assert(
      fc.asyncProperty(output, fc.array(fc.nat(), { maxLength: 20 }), async (data, points) => {
        using whole = new Screen({ cols, rows });
        using parts = new Screen({ cols, rows });
        whole.feed(data);
        for (const [index, chunk] of cut(data, points).entries()) {
          parts.feed(chunk);
          if (index % 3 === 0) await parts.look();
        }
        expect(visible(await parts.look())).toEqual(visible(await whole.look()));
      }),
      { numRuns: 60 },
    );
  });
});

const recorded = recordings(12);

describe.skipIf(recorded.length === 0)('recordings', () => {
  test.each(recorded)('$name: any chunking, the same end', async ({ header, output: data }) => {
    using whole = new Screen({ cols: header.width, rows: header.height });
    whole.feed(data);
    const expected = visible(await whole.look());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 50 }), async (points) => {
        using parts = new Screen({ cols: header.width, rows: header.height });
        for (const chunk of cut(data, points)) {
          parts.feed(chunk);
          await parts.look();
        }
        expect(visible(await parts.look())).toEqual(expected);
      }),
      { numRuns: 5 },
    );
  });

  test.each(recorded)('$name: each look equals a full reading', async ({ header, events }) => {
    using screen = new Screen({ cols: header.width, rows: header.height });
    using reference = new ReferenceScreen(header.width, header.height);
    for (const event of events.slice(0, 150)) {
      if (event.kind !== 'o') continue;
      screen.feed(event.data);
      expect((await screen.look()).rows).toEqual(await reference.rowsAfter(event.data));
    }
  });
});
