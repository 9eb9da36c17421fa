import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Screen } from './screen.js';
import type { ScreenSnapshot } from './snapshot.js';
import { recordings } from './testing/recordings.js';
import { terminalWords } from './testing/reference-screen.js';

/** All that a reader sees, without when it was seen. */
function seen({ cols, rows, cursor, modes, signals, bytesParsed }: ScreenSnapshot): unknown {
  const { title, programState } = signals;
  const said = [title?.text ?? null, programState && { ...programState, atMs: 0 }];
  return { cols, rows, cursor, modes, said, bytesParsed };
}

/** The first checkpoint at or behind `at` that there is, and the screen that goes on from it. */
function resume(output: Uint8Array, at: number, screen: Screen): { from: number; again: Screen } {
  screen.feed(output.subarray(0, at));
  for (let to = at; ; to += 1) {
    const checkpoint = screen.checkpoint();
    if (checkpoint) {
      const from = to - checkpoint.unfinishedBytes;
      const again = Screen.fromCheckpoint({}, { blob: checkpoint.blob, offset: from });
      if (!again) throw new Error('a checkpoint could not be read');
      return { from, again };
    }
    if (to === output.length) throw new Error('no checkpoint');
    screen.feed(output.subarray(to, to + 1));
  }
}

async function sameFrom(output: Uint8Array, at: number, cols: number, rows: number): Promise<void> {
  using straight = new Screen({ cols, rows });
  using first = new Screen({ cols, rows });
  straight.feed(output);
  const { from, again } = resume(output, at, first);
  using _again = again;
  again.feed(output.subarray(from));
  expect(seen(await again.look())).toEqual(seen(await straight.look()));
}

describe('a screen that goes on from a checkpoint', () => {
  test('of any recording, at any place, is the one that saw everything', async () => {
    for (const { header, output } of recordings(60))
      for (const share of [0.13, 0.5, 0.87])
        await sameFrom(output, Math.floor(output.length * share), header.width, header.height);
  });

  test('of any output is the one that saw everything', async () => {
    const pieces = fc.array(fc.constantFrom(...terminalWords), { maxLength: 60 });
    const property = fc.asyncProperty(pieces, pieces, async (before, after) => {
      const head = Buffer.from(before.join(''));
      const output = Buffer.concat([head, Buffer.from(`${after.join('')}\u001b[0m `)]);
      await sameFrom(output, head.length, 20, 6);
    });
    await fc.assert(property, { numRuns: 400 });
  });

  test('has a resize behind it as the other has', async () => {
    const pieces = fc.array(fc.constantFrom(...terminalWords), { maxLength: 40 });
    const size = fc.record({
      cols: fc.integer({ min: 2, max: 40 }),
      rows: fc.integer({ min: 1, max: 12 }),
    });
    const property = fc.asyncProperty(
      pieces,
      size,
      pieces,
      async (before, { cols, rows }, after) => {
        using screen = new Screen({ cols: 20, rows: 6 });
        screen.feed(Buffer.from(before.join('')));
        const checkpoint = screen.checkpoint();
        if (!checkpoint) return;
        const offset = Buffer.byteLength(before.join(''));
        using again = Screen.fromCheckpoint({}, { blob: checkpoint.blob, offset }) ?? screen;
        for (const each of [screen, again]) {
          each.resize(cols, rows);
          each.feed(Buffer.from(after.join('')));
        }
        expect(seen(await again.look())).toEqual(seen(await screen.look()));
      },
    );
    await fc.assert(property, { numRuns: 400 });
  });

  test('is refused where the checkpoint is damaged or of another version', () => {
    using screen = new Screen({ cols: 20, rows: 6 });
    screen.feed('text');
    const blob = screen.checkpoint()?.blob ?? new Uint8Array();
    const offset = 4;
    expect(Screen.fromCheckpoint({}, { blob: blob.subarray(0, blob.length - 3), offset })).toBe(
      null,
    );
    expect(Screen.fromCheckpoint({}, { blob: new Uint8Array([1, 2, 3]), offset })).toBe(null);
    expect(Screen.fromCheckpoint({}, { blob: new Uint8Array(), offset })).toBe(null);
    using again = Screen.fromCheckpoint({}, { blob, offset });
    expect(again).not.toBe(null);
  });
});

describe('a painted screen', () => {
  test('of any recording shows its rows, cursor and modes', async () => {
    for (const { header, output } of recordings(60)) {
      using screen = new Screen({ cols: header.width, rows: header.height });
      screen.feed(output);
      using painted = new Screen({ cols: header.width, rows: header.height });
      painted.feed(await screen.paint());
      const [is, was] = [await painted.look(), await screen.look()];
      const rows = (snapshot: ScreenSnapshot): unknown =>
        snapshot.rows.map(({ text, runs }) => ({ text, runs }));
      expect(rows(is)).toEqual(rows(was));
      expect([is.cursor, is.modes.bracketedPaste, is.modes.alternateScreen]).toEqual([
        { ...was.cursor, column: Math.min(was.cursor.column, was.cols - 1) },
        was.modes.bracketedPaste,
        was.modes.alternateScreen,
      ]);
    }
  });
});
