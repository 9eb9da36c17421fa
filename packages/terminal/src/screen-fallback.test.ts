import { expect, test, vi } from 'vitest';
import { Screen } from './screen.js';
import type { ScreenSnapshot } from './snapshot.js';

vi.mock('./xterm-internals.js', async (original) => ({
  ...(await original<typeof import('./xterm-internals.js')>()),
  openInternals: () => ({
    parse: null,
    onDirtyRows: null,
    changeFirstParameter: null,
    mendRows: null,
  }),
  rawRow: () => null,
}));

test('without the internals the public API gives the same', async () => {
  const replies: string[] = [];
  using screen = new Screen({ cols: 20, rows: 3, onReply: (data) => replies.push(data) });
  screen.feed('one\r\n\u001b[1mtwo\u001b[0m…');
  const before = await screen.look();
  expect(before.rows.map((row) => row.text)).toEqual(['one', 'two…', '']);
  screen.feed('\u001b[3;1Hthree\u001b[6n');
  const after = await screen.look();
  expect(after.rows.map((row) => row.text)).toEqual(['one', 'two…', 'three']);
  expect(after.rows[0]).toBe(before.rows[0]);
  expect(after.revision).toBe(before.revision + 1);
  expect((await screen.look()).rows).toBe(after.rows);
  expect(replies).toEqual(['\u001b[3;6R']);
});

test('and changes are still announced', async () => {
  using screen = new Screen({ cols: 20, rows: 3 });
  const changed = new Promise<ScreenSnapshot>((resolve) => screen.onChange(resolve));
  screen.feed('hi');
  expect((await changed).rows[0]?.text).toBe('hi');
});
