import { isWellFormed } from '@ostler/protocol';
import { Screen, type ScreenSnapshot } from '@ostler/terminal';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxBodyCharacters, prepareBody } from './body.js';
import { maxFrameCharacters } from './frames.js';

async function screen(rows = 32, cols = 100): Promise<ScreenSnapshot> {
  using terminal = new Screen({ cols, rows });
  return terminal.look();
}
const snapshot = await screen();

describe('what would act is refused', () => {
  test.each([
    ['/help', 'slash_command'],
    ['  /help me please', 'slash_command'],
    ['\n/help', 'slash_command'],
    ['\u200b/help', 'slash_command'],
    ['/nosuch x', 'slash_command'],
    ['/ hello', 'slash_command'],
    ['/Users', 'slash_command'],
    ['exit', 'quits'],
    [' quit \n', 'quits'],
    [':q', 'quits'],
    [':wq!', 'quits'],
    ['', 'empty'],
    [' \n\u001b\u200b', 'empty'],
    ['\ud83d', 'lone_surrogate'],
    ['x'.repeat(maxBodyCharacters + 1), 'too_long'],
  ])('%j', (text, reason) => {
    expect(prepareBody(text, snapshot)).toMatchObject({ kind: 'refused', reason });
  });

  test('several rows on a small screen', async () => {
    const small = await screen(13);
    expect(prepareBody('one\ntwo', small)).toMatchObject({ reason: 'screen_too_small' });
    expect(prepareBody('word '.repeat(40), small)).toMatchObject({ reason: 'screen_too_small' });
    expect(prepareBody('one', small)).toMatchObject({ kind: 'ready' });
    expect(prepareBody('one\ntwo', await screen(14))).toMatchObject({ kind: 'ready' });
  });
});

describe('what is sent, and what is recorded of it', () => {
  test.each([
    ['hello', 'hello', 'hello'],
    ['!echo hi', ' !echo hi', ' !echo hi'],
    ['abc\\', 'abc\\ ', 'abc\\'],
    ['\\', '\\ ', '\\'],
    ['/tmp/foo.txt is bad', '/tmp/foo.txt is bad', '/tmp/foo.txt is bad'],
    ['//comment', '//comment', '//comment'],
    ['exit.', 'exit.', 'exit.'],
    ['Exit', 'Exit', 'Exit'],
    ['# a', '# a', '# a'],
    ['@alpha.txt', '@alpha.txt', '@alpha.txt'],
    ['line1\n/help', 'line1\n/help', 'line1\n/help'],
    ['a\tb', 'a    b', 'a    b'],
    ['a\r\nb\rc\u2028d', 'a\nb\nc\nd', 'a\nb\nc\nd'],
    ['text \n\n', 'text', 'text'],
    ['x\u001b[201~y\u001b[20\u001b[201~1~z\u009b201~w', 'xyzw', 'xyzw'],
    ['a\u0000b\u0007c\u001b[31mred\u001b[0m', 'abcred', 'abcred'],
    ['e\u0301', 'é', 'é'],
    ['a\u200bb\ufeffc\u00add\u202ee\u200ff', 'abcdef', 'abcdef'],
    ['می\u200cخواهم 👩\u200d👧', 'می\u200cخواهم 👩\u200d👧', 'می\u200cخواهم 👩\u200d👧'],
    ['a\u200db', 'ab', 'ab'],
  ])('%j', (text, sent, recorded) => {
    const verdict = prepareBody(text, snapshot);
    if (verdict.kind !== 'ready') throw new Error(verdict.reason);
    expect(verdict.body.frames.join('')).toBe(sent);
    expect(verdict.body.text).toBe(recorded);
  });

  test("an image's path is cut, so that no frame is one", () => {
    const verdict = prepareBody('see\n/tmp/a.png\nand b.JPEG', snapshot);
    expect(verdict).toMatchObject({
      body: { frames: ['see\n', '/tmp/a', '.png\n', 'and b', '.JPEG'] },
    });
  });

  test('any text: frames stay small, keep graphemes and can close no bracket', () => {
    const pieces = fc.constantFrom(
      'word ',
      '\n',
      '👩\u200d👩\u200d👧',
      '漢',
      '\u001b[201~',
      '\u009b',
      'é',
      '\\',
      '.png',
      '🇯🇵',
      'x'.repeat(690),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const verdict = prepareBody(`a${parts.join('')}`, snapshot);
        if (verdict.kind !== 'ready') throw new Error(verdict.reason);
        const { frames, text } = verdict.body;
        expect(frames.join('').trimEnd()).toBe(text);
        for (const frame of frames) {
          expect(frame.length).toBeLessThanOrEqual(maxFrameCharacters);
          expect(frame.split('\n').length).toBeLessThanOrEqual(2);
          expect(frame).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
          expect(isWellFormed(frame)).toBe(true);
          expect(frame).not.toMatch(/^\u200d|\u200d$/);
        }
      }),
      { numRuns: 200 },
    );
  });
});
