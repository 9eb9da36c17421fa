import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@ostler/runtime';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parseCast, readCast, readCastFile } from './cast-reader.js';
import { CastWriter } from './cast-writer.js';

const folder = mkdtempSync(join(tmpdir(), 'ostler-cast-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function newPath(): string {
  files += 1;
  return join(folder, `${files}.cast`);
}

describe('CastWriter', () => {
  test('writes what a reader reads', async () => {
    const clock = new VirtualClock(1_796_000_000_500);
    const path = newPath();
    const header = { width: 100, height: 32, title: 'a test', env: { TERM: 'xterm' } };
    const cast = await CastWriter.open({ path, header, clock });
    const euro = Buffer.from('€');
    cast.output(euro.subarray(0, 2));
    clock.advance(1_250);
    cast.output(euro.subarray(2));
    cast.input(Buffer.from('\u001b[A'));
    cast.mark('here');
    clock.advance(1);
    cast.resize(80, 24);
    cast.output(Uint8Array.of(0xff, 0xc3));
    await cast.close();
    await cast.close();
    cast.mark('too late');
    expect(cast.state).toEqual({ kind: 'closed' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(parseCast(readFileSync(path))).toEqual({
      header: { ...header, timestamp: 1_796_000_000 },
      events: [
        { kind: 'o', atSeconds: 1.25, data: '€' },
        { kind: 'i', atSeconds: 1.25, data: '\u001b[A' },
        { kind: 'm', atSeconds: 1.25, data: 'here' },
        { kind: 'r', atSeconds: 1.251, cols: 80, rows: 24 },
        { kind: 'o', atSeconds: 1.251, data: '\ufffd' },
        { kind: 'o', atSeconds: 1.251, data: '\ufffd' },
      ],
    });
  });

  test('any chunking gives the same text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        async (text, points) => {
          const path = newPath();
          const data = Buffer.from(text);
          const borders = [0, ...points.map((point) => point % (data.length + 1)), data.length];
          borders.sort((a, b) => a - b);
          await using cast = await CastWriter.open({ path, header: { width: 1, height: 1 } });
          for (const [index, to] of borders.slice(1).entries())
            cast.output(data.subarray(borders[index], to));
          await cast.close();
          const { events } = parseCast(readFileSync(path));
          expect(events.map((event) => (event.kind === 'o' ? event.data : '')).join('')).toBe(text);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('stops when more waits than it may keep, and what was written stands', async () => {
    const path = newPath();
    const cast = await CastWriter.open({
      path,
      header: { width: 1, height: 1 },
      maxBufferedCharacters: 100,
    });
    cast.output(Buffer.from('kept'));
    cast.output(Buffer.from('x'.repeat(100)));
    cast.output(Buffer.from('y'));
    expect(cast.state).toEqual({ kind: 'stopped', reason: 'buffer_full' });
    await cast.close();
    expect(parseCast(readFileSync(path)).events).toMatchObject([{ data: 'kept' }]);
  });

  test('never writes over a file, and needs a directory', async () => {
    const path = newPath();
    writeFileSync(path, 'mine');
    const header = { width: 1, height: 1 };
    await expect(CastWriter.open({ path, header })).rejects.toMatchObject({
      code: 'CAST_FILE_EXISTS',
    });
    expect(readFileSync(path, 'utf8')).toBe('mine');
    await expect(
      CastWriter.open({ path: join(folder, 'no', 'where'), header }),
    ).rejects.toMatchObject({ code: 'CAST_OPEN_FAILED' });
  });
});

const head = '{"version":2,"width":100,"height":32}\n';

describe('reading', () => {
  test.each([
    ['CAST_BAD_HEADER', ''],
    ['CAST_BAD_HEADER', 'hello\n'],
    ['CAST_BAD_HEADER', '[]\n'],
    ['CAST_BAD_HEADER', '{"version":1,"width":1,"height":1}\n'],
    ['CAST_BAD_HEADER', '{"version":2,"width":0,"height":1}\n'],
    ['CAST_BAD_HEADER', '{"version":2,"width":1,"height":"1"}\n'],
    ['CAST_BAD_HEADER', '{"version":2,"width":1,"height":1,"env":{"A":1}}\n'],
    ['CAST_BAD_HEADER', '{"version":2,"width":1,"height":1,"title":1}\n'],
    ['CAST_BAD_EVENT', `${head}\n`],
    ['CAST_BAD_EVENT', `${head}{}\n`],
    ['CAST_BAD_EVENT', `${head}[0,"o"]\n`],
    ['CAST_BAD_EVENT', `${head}[0,"o","x",1]\n`],
    ['CAST_BAD_EVENT', `${head}["0","o","x"]\n`],
    ['CAST_BAD_EVENT', `${head}[-1,"o","x"]\n`],
    ['CAST_BAD_EVENT', `${head}[2,"o","x"]\n[1,"o","x"]\n`],
    ['CAST_BAD_EVENT', `${head}[0,"q","x"]\n`],
    ['CAST_BAD_EVENT', `${head}[0,"o",1]\n`],
    ['CAST_BAD_EVENT', `${head}[0,"r","100"]\n`],
    ['CAST_BAD_EVENT', `${head}[0,"r","0x10"]\n`],
    ['CAST_CUT_OFF', `${head}[0,"o","x`],
    ['CAST_CUT_OFF', head.trimEnd()],
    ['CAST_LINE_TOO_LONG', `${head}[0,"o","${'x'.repeat(100)}"]\n`],
    ['CAST_LINE_TOO_LONG', `${head}[0,"o","${'x'.repeat(100)}`],
    ['CAST_TOO_MANY_EVENTS', head + '[0,"o",""]\n'.repeat(4)],
  ])('%s: %j', (code, text) => {
    expect(() => parseCast(text, { maxLineCharacters: 80, maxEvents: 3 })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  test('streams, whatever the chunks', async () => {
    const text = `${head}[0.5,"o","é😀"]\n[0.5,"m",""]\n`;
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (const byte of Buffer.from(text)) yield Uint8Array.of(byte);
    }
    const parts = [];
    for await (const part of readCast(bytes())) parts.push(part);
    expect(parts).toEqual([
      { kind: 'header', header: { width: 100, height: 32 } },
      { kind: 'event', event: { kind: 'o', atSeconds: 0.5, data: 'é😀' } },
      { kind: 'event', event: { kind: 'm', atSeconds: 0.5, data: '' } },
    ]);
    const path = newPath();
    writeFileSync(path, text);
    const again = [];
    for await (const part of readCastFile(path)) again.push(part);
    expect(again).toEqual(parts);
  });
});
