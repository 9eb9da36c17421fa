import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bracketedPaste, pasteEnd } from './bracketed-paste.js';
import { findLoneSurrogate, isSafeInPaste, sanitiseBody } from './sanitise.js';

function clean(text: string): string {
  const body = sanitiseBody(text);
  if (body.kind === 'refused') throw new Error(`refused: ${body.reason}`);
  return body.text;
}

describe('sanitiseBody', () => {
  test.each([
    ['a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['a\r\r\nb', 'a\n\nb'],
    ['  lead and trail  \n\r\n', '  lead and trail  '],
    ['\n\nx', '\n\nx'],
    ['a\tb', 'a\tb'],
    ['a\u0000\u0007\u001f\u007fb', 'ab'],
    ['a\u0080\u0085\u009fb', 'ab'],
    ['a\u00a0b', 'a\u00a0b'],
    ['x\u001b[201~y', 'xy'],
    ['x\u001b[200~y', 'xy'],
    ['x\u009b201~y', 'xy'],
    ['x\u001b[20\u001b[201~1~y', 'xy'],
    ['x\u001b[20\u009b201~1~y', 'xy'],
    ['x\u009b2\u001b[201~01~y', 'xy'],
    ['x\u001b[20\u00001~y', 'xy'],
    ['x\u001b\u0085[201~y', 'xy'],
    ['x\u001b\u001b[201~[201~y', 'xy'],
    ['x\u001b[31mred', 'x[31mred'],
    ['plain [201~ text', 'plain [201~ text'],
    ['雛 👩‍👩‍👧‍👦 é שלום \u2028 \ufeff', '雛 👩‍👩‍👧‍👦 é שלום \u2028 \ufeff'],
    ['ends in a backslash \\', 'ends in a backslash \\'],
    ['a\n\u0007', 'a'],
  ])('%j becomes %j', (text, expected) => {
    expect(clean(text)).toBe(expected);
  });

  test('half a surrogate pair is refused with its place', () => {
    expect(sanitiseBody('ab\ud83d')).toEqual({
      kind: 'refused',
      reason: 'lone_surrogate',
      index: 2,
    });
    expect(findLoneSurrogate('\udc00x')).toBe(0);
    expect(findLoneSurrogate('\ud83d\ude00')).toBe(-1);
    expect(findLoneSurrogate('\ud83d\ud83d\ude00')).toBe(0);
  });

  test('a deep nest of brackets takes one pass', () => {
    const depth = 20_000;
    expect(clean(`a${'\u001b[20'.repeat(depth)}${'1~'.repeat(depth)}b`)).toBe('ab');
  });
});

const hostile: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u001b', '\u009b', '[', '20', '0', '1', '2', '~', '201~', '\u001b[201~'),
      fc.constantFrom('\r', '\n', '\r\n', '\t', '\u0000', '\u0085', '\u007f', ' '),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('properties', () => {
  test('no output can end a frame or press a key', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const output = clean(text);
        expect(isSafeInPaste(output)).toBe(true);
        expect(output).not.toMatch(/[\u001b\u009b\r]/);
        expect(output).not.toMatch(/\n$/);
        expect(bracketedPaste([output]).indexOf(pasteEnd)).toBe(6 + output.length);
      }),
    );
  });

  test('twice is once', () => {
    fc.assert(fc.property(hostile, (text) => clean(clean(text)) === clean(text)));
  });

  test('a text without controls stays as it is, its trailing newlines apart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text));
        expect(clean(text)).toBe(text.replace(/\n+$/, ''));
      }),
    );
  });

  test('what is kept is kept in order', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const output = clean(text);
        const input = text.replace(/\r\n?/g, '\n');
        let at = -1;
        for (const unit of output.split('')) {
          at = input.indexOf(unit, at + 1);
          expect(at).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});
