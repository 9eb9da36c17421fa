import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Utf8Border } from './utf8-border.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

test('no chunk ends in the middle of a character, and no byte is lost', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 24 }).map((text) => Buffer.from(text)),
      fc.array(fc.nat(), { maxLength: 8 }),
      (data, points) => {
        const borders = [0, ...points.map((point) => point % (data.length + 1)), data.length];
        borders.sort((a, b) => a - b);
        const border = new Utf8Border();
        let text = '';
        for (const [index, to] of borders.slice(1).entries()) {
          const chunk = border.join(data.subarray(borders[index], to));
          text += decoder.decode(chunk);
        }
        expect(text).toBe(data.toString());
      },
    ),
  );
});

test('bytes that are no UTF-8 are held at most three at a time', () => {
  const border = new Utf8Border();
  expect([...border.join(Uint8Array.of(0xf0, 0x9f, 0x98))]).toEqual([]);
  expect([...border.join(Uint8Array.of(0x41))]).toEqual([0xf0, 0x9f, 0x98, 0x41]);
  expect([...border.join(Uint8Array.of(0x80, 0x80, 0x80, 0x80))]).toEqual([0x80, 0x80, 0x80, 0x80]);
});
