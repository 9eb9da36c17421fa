import { CodedError, VirtualClock } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { Screen } from './screen.js';
import type { ScreenSnapshot } from './snapshot.js';

function texts(snapshot: ScreenSnapshot): string[] {
  return snapshot.rows.map((row) => row.text);
}

describe('look', () => {
  test('shows everything fed, with its styles', async () => {
    using screen = new Screen({ cols: 20, rows: 3 });
    screen.feed('a\u001b[1;31mbold\u001b[0m\r\n\u001b[2;3;7;48;2;1;2;3m dim \u001b[0m  ');
    const snapshot = await screen.look();
    expect(texts(snapshot)).toEqual(['abold', ' dim', '']);
    expect(snapshot.rows[0]?.runs).toMatchObject([
      { column: 0, text: 'a', style: { bold: false, foreground: null } },
      { column: 1, text: 'bold', style: { bold: true, foreground: 1 } },
    ]);
    expect(snapshot.rows[1]?.runs).toEqual([
      {
        column: 0,
        text: ' dim ',
        style: {
          bold: false,
          dim: true,
          inverse: true,
          italic: true,
          foreground: null,
          background: '#010203',
        },
      },
    ]);
    expect(snapshot.cursor).toEqual({ column: 7, row: 1 });
  });

  test('wide and combined characters take their columns', async () => {
    using screen = new Screen({ cols: 20, rows: 2 });
    screen.feed('中文e\u0301\u001b[1mX\u001b[0m 😀y');
    const [row] = (await screen.look()).rows;
    expect(row?.text).toBe('中文e\u0301X 😀y');
    expect(row?.runs.map((run) => [run.column, run.text])).toEqual([
      [0, '中文e\u0301'],
      [5, 'X'],
      [6, ' 😀y'],
    ]);
  });

  test('characters and sequences cut by chunk borders come together', async () => {
    const output = Buffer.from('é…中😀’\u001b[31mred\u001b]0;título\u0007');
    using screen = new Screen({ cols: 20, rows: 2 });
    for (const byte of output) {
      screen.feed(Uint8Array.of(byte));
      await screen.look();
    }
    const snapshot = await screen.look();
    expect(texts(snapshot)[0]).toBe('é…中😀’red');
    expect(snapshot.signals.title?.text).toBe('título');
    expect(snapshot.bytesParsed).toBe(output.length);
  });

  test('after dispose it says so', async () => {
    const screen = new Screen({ cols: 20, rows: 2 });
    screen[Symbol.dispose]();
    screen[Symbol.dispose]();
    screen.feed('x');
    screen.resize(10, 10);
    await expect(screen.look()).rejects.toMatchObject({ code: 'SCREEN_DISPOSED' });
    await expect(screen.look()).rejects.toBeInstanceOf(CodedError);
  });
});

describe('identity and revision', () => {
  test('rows that did not change stay the same objects', async () => {
    using screen = new Screen({ cols: 20, rows: 4 });
    screen.feed('one\r\ntwo\r\nthree');
    const before = await screen.look();
    screen.feed('\u001b[2;1HTWO');
    const after = await screen.look();
    expect(after.rows[0]).toBe(before.rows[0]);
    expect(after.rows[2]).toBe(before.rows[2]);
    expect(after.rows[1]).not.toBe(before.rows[1]);
    expect(texts(before)[1]).toBe('two');
    expect(after.revision).toBeGreaterThan(before.revision);
  });

  test('a row that scrolls keeps its identity', async () => {
    using screen = new Screen({ cols: 20, rows: 3 });
    screen.feed('one\r\ntwo\r\nthree');
    const before = await screen.look();
    screen.feed('\r\nfour');
    const after = await screen.look();
    expect(texts(after)).toEqual(['two', 'three', 'four']);
    expect(after.rows[0]).toBe(before.rows[1]);
    expect(after.rows[1]).toBe(before.rows[2]);
  });

  test.each([
    ['a repaint of the same text', '\u001b[1;1Hone\u001b[3;6H'],
    ['an underline, which no style shows', '\u001b[1;1H\u001b[4mone\u001b[0m\u001b[3;6H'],
    ['the same title again', '\u001b]2;t\u0007'],
    ['a frame that changes nothing', '\u001b[?2026h\u001b[?2026l'],
    ['a colour not used yet', '\u001b[31m'],
    ['half a sequence', '\u001b['],
  ])('%s is the same revision', async (_, output) => {
    using screen = new Screen({ cols: 20, rows: 3 });
    screen.feed('one\r\ntwo\r\nthree\u001b]0;t\u0007');
    const before = await screen.look();
    screen.feed(output);
    const after = await screen.look();
    expect(after.revision).toBe(before.revision);
    expect(after.rows).toBe(before.rows);
    expect(after.bytesParsed).toBeGreaterThan(before.bytesParsed);
  });

  test.each([
    ['text', 'x'],
    ['style', '\u001b[1;1H\u001b[1mone\u001b[0m\u001b[3;6H'],
    ['the cursor', '\u001b[H'],
    ['cursor visibility', '\u001b[?25l'],
    ['mode 2004', '\u001b[?2004h'],
    ['mode 2026', '\u001b[?2026h'],
    ['the alternate screen', '\u001b[?1049h'],
    ['a title', '\u001b]0;other\u0007'],
    ['a program state', '\u001b]7501;state=idle:app=x\u0007'],
    ['a full reset', '\u001bc'],
    ['a combining mark', '\u001b[1;3He\u0301\u0302\u001b[3;6H'],
  ])('%s is a new revision', async (_, output) => {
    using screen = new Screen({ cols: 20, rows: 3 });
    screen.feed('one\r\ntwo\r\nthree\u001b]0;t\u0007');
    const before = await screen.look();
    screen.feed(output);
    expect((await screen.look()).revision).toBe(before.revision + 1);
  });

  test('a combining mark on a combined cell is seen', async () => {
    using screen = new Screen({ cols: 20, rows: 3 });
    screen.feed('e\u0301');
    await screen.look();
    screen.feed('\u0302');
    expect(texts(await screen.look())[0]).toBe('e\u0301\u0302');
  });

  test('a resize is a new revision, at the new size', async () => {
    using screen = new Screen({ cols: 20, rows: 3 });
    screen.feed('one');
    const before = await screen.look();
    screen.resize(10, 5);
    const after = await screen.look();
    expect(after.revision).toBeGreaterThan(before.revision);
    expect([after.cols, after.rows.length]).toEqual([10, 5]);
    screen.resize(10, 5);
    expect((await screen.look()).revision).toBe(after.revision);
  });

  test('what was fed before a resize is parsed at the old size', async () => {
    using screen = new Screen({ cols: 6, rows: 3 });
    screen.feed('abcdefgh');
    screen.resize(20, 3);
    const old = await screen.look();
    expect(old.rows.map((row) => row.text).join('|')).toMatch(/abcdefgh|abcdef\|gh/);
    expect(texts(old).join('')).toBe('abcdefgh');
  });
});

test.each(['', '\u001b[?1049h'])(
  'a narrower screen shows nothing beyond its edge (%j)',
  async (enter) => {
    using screen = new Screen({ cols: 20, rows: 3 });
    screen.feed(`${enter}\u001b[1;1Ha long first row!!!\u001b[2;1Ha long second row`);
    await screen.look();
    screen.resize(10, 3);
    screen.feed('\u001b[1;1Hone\u001b[K\u001b[2;1H中文\u001b[K\u001b[3;1H\u001b[K');
    const { rows } = await screen.look();
    expect(rows.map((row) => row.text)).toEqual(['one', '中文', '']);
    expect(rows.flatMap((row) => row.runs.map((run) => run.text))).toEqual(['one', '中文']);
  },
);

test('whatever the sizes, the last row can be written', async () => {
  using screen = new Screen({ cols: 80, rows: 24 });
  screen.feed(`${'x'.repeat(66)}\u000b6\u001b[;L`);
  screen.resize(57, 3);
  screen.resize(48, 27);
  screen.feed('\u001b[27;1Hend');
  expect((await screen.look()).rows.at(-1)?.text).toBe('end');
});

describe('modes and signals', () => {
  test('are reported, with times', async () => {
    const clock = new VirtualClock(1_000);
    using screen = new Screen({ cols: 20, rows: 3, clock });
    screen.feed('\u001b[?2004h\u001b[?1049h\u001b[?25l\u001b[?2026h');
    expect((await screen.look()).modes).toEqual({
      bracketedPaste: true,
      alternateScreen: true,
      cursorVisible: false,
      synchronizedOutput: true,
    });
    clock.advance(5);
    screen.feed('\u001b]2;hello\u0007\u001b]7501;state=blocked:app=x:kind=permission\u001b\\');
    expect((await screen.look()).signals).toEqual({
      title: { text: 'hello', atMs: 1_005 },
      programState: { state: 'blocked', app: 'x', kind: 'permission', atMs: 1_005 },
    });
    clock.advance(5);
    screen.feed('\u001b]2;hello\u0007\u001b]7501;nonsense\u0007');
    const { signals } = await screen.look();
    expect(signals.title?.atMs).toBe(1_010);
    expect(signals.programState?.atMs).toBe(1_005);
    screen.feed('\u001bc');
    expect((await screen.look()).modes).toEqual({
      bracketedPaste: false,
      alternateScreen: false,
      cursorVisible: true,
      synchronizedOutput: false,
    });
  });

  test('signals are bounded', async () => {
    using screen = new Screen({ cols: 20, rows: 3 });
    const long = 'x'.repeat(511);
    screen.feed(`\u001b]0;${long}😀${long}\u0007\u001b]7501;state=${long}${long}\u0007`);
    const { signals } = await screen.look();
    expect(signals.title?.text).toBe(long);
    expect(signals.programState?.state).toHaveLength(512);
  });

  test('replies go to onReply', async () => {
    const replies: string[] = [];
    using screen = new Screen({ cols: 20, rows: 3, onReply: (data) => replies.push(data) });
    screen.feed('ab\u001b[6n\u001b[c');
    await screen.look();
    expect(replies).toEqual(['\u001b[1;3R', '\u001b[?1;2c']);
  });
});

describe('onChange', () => {
  function deferred(): { tasks: (() => void)[]; defer: (task: () => void) => void; run(): void } {
    const tasks: (() => void)[] = [];
    return {
      tasks,
      defer: (task) => void tasks.push(task),
      run: () => {
        for (const task of tasks.splice(0)) task();
      },
    };
  }

  test('fires once for all that was fed, and only when something visible changed', () => {
    const queue = deferred();
    using screen = new Screen({ cols: 20, rows: 3, defer: queue.defer });
    const seen: string[][] = [];
    using _subscription = screen.onChange((snapshot) => seen.push(texts(snapshot)));
    screen.feed('a');
    screen.feed('b');
    expect(queue.tasks).toHaveLength(1);
    queue.run();
    screen.feed('\u001b[31m');
    queue.run();
    screen.resize(21, 3);
    expect(seen.map((rows) => rows[0])).toEqual(['ab', 'ab']);
    expect(queue.tasks).toHaveLength(0);
  });

  test('fires for what a look has already shown to somebody else', async () => {
    const queue = deferred();
    using screen = new Screen({ cols: 20, rows: 3, defer: queue.defer });
    let fired = 0;
    using _subscription = screen.onChange(() => {
      fired += 1;
    });
    screen.feed('a');
    await screen.look();
    queue.run();
    expect(fired).toBe(1);
  });

  test('a subscription that has ended is not called', () => {
    const queue = deferred();
    using screen = new Screen({ cols: 20, rows: 3, defer: queue.defer });
    const subscription = screen.onChange(() => expect.unreachable());
    subscription[Symbol.dispose]();
    subscription[Symbol.dispose]();
    screen.feed('a');
    queue.run();
  });

  test('by default it fires by itself, and output without listeners is parsed too', async () => {
    const replies: string[] = [];
    using screen = new Screen({ cols: 20, rows: 3, onReply: (data) => replies.push(data) });
    screen.feed('\u001b[c');
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(replies).toHaveLength(1);
    const changed = new Promise<ScreenSnapshot>((resolve) => screen.onChange(resolve));
    screen.feed('hi');
    expect(texts(await changed)[0]).toBe('hi');
  });
});

describe('a synchronized frame', () => {
  const half = '\u001b[?2026h\u001b[Hhalf';

  test('is waited for when asked, by its end', async () => {
    const clock = new VirtualClock();
    using screen = new Screen({ cols: 20, rows: 3, clock });
    screen.feed(half);
    expect((await screen.look()).modes.synchronizedOutput).toBe(true);
    const looked = screen.look({ frameEndMs: 500 });
    screen.feed(' whole\u001b[?2026l');
    const snapshot = await looked;
    expect(texts(snapshot)[0]).toBe('half whole');
    expect(snapshot.modes.synchronizedOutput).toBe(false);
    expect(clock.nextDueMs()).toBeNull();
  });

  test('that does not end is reported as it is after the limit', async () => {
    const clock = new VirtualClock();
    using screen = new Screen({ cols: 20, rows: 3, clock });
    screen.feed(half);
    const looked = screen.look({ frameEndMs: 500 });
    await screen.look();
    clock.advance(500);
    expect((await looked).modes.synchronizedOutput).toBe(true);
  });
});

test('a long text without line ends keeps no history', async () => {
  using screen = new Screen({ cols: 20, rows: 3 });
  for (let line = 0; line < 2_000; line += 1) screen.feed(`line ${line}\r\n`);
  expect(texts(await screen.look())).toEqual(['line 1998', 'line 1999', '']);
});
