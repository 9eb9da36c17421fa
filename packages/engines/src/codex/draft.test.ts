import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { DraftMatch } from '../engine.js';
import { loadCast, replayScreens } from '../recordings/index.js';
import { matchRows } from './draft.js';
import { CodexReader } from './reader.js';

function match(rows: string[], frames: string[], more: object = {}): DraftMatch {
  const draft = { rows, cols: 40, hiddenAbove: false, hiddenBelow: false, ...more };
  return matchRows(draft, { frames, text: frames.join('').trim() });
}

describe('rows against a paste', () => {
  test('exact, partial, other, empty', () => {
    expect(match(['hello'], ['hello'])).toBe('exact');
    expect(match(['hel'], ['hello'])).toBe('partial');
    expect(match(['hello x'], ['hello'])).toBe('other');
    expect(match(['x hello'], ['hello'])).toBe('other');
    expect(match([''], ['hello'])).toBe('empty');
  });

  test('guards around the text', () => {
    expect(match([' /model'], [' /model'])).toBe('exact');
    expect(match(['/model'], [' /model'])).toBe('other');
    expect(match(['look @con'], ['look @con '])).toBe('exact');
    expect(match([' /a.png'], [' /a.p', 'ng'])).toBe('exact');
    expect(match([' /a.p'], [' /a.p', 'ng'])).toBe('partial');
  });

  test('wrapped at words and within a long one, tabs as spaces', () => {
    const words = 'one two three four five six seven eight nine';
    expect(match(['one two three four five six seven', 'eight nine'], [words])).toBe('exact');
    expect(match(['one two', 'three four five six seven eight nine'], [words])).toBe('other');
    const long = 'x'.repeat(60);
    expect(match([long.slice(0, 37), long.slice(37)], [long])).toBe('exact');
    expect(match(['a b'], ['a\tb'])).toBe('exact');
  });

  test('a line end of ours is one, a swallowed Enter is noticed', () => {
    expect(match(['a', '', 'b'], ['a\n\nb'])).toBe('exact');
    expect(match(['a', 'b'], ['a\n\nb'])).toBe('other');
    expect(match(['a', ''], ['a'])).toBe('other');
  });

  test('taller than its box: the visible end has to be ours', () => {
    const text = Array.from({ length: 30 }, (_, n) => `row ${n}`).join('\n');
    const hidden = { hiddenAbove: true };
    expect(match(['row 27', 'row 28', 'row 29'], [text], hidden)).toBe('exact');
    expect(match(['row 27', 'row 28', 'row 29'], [text])).toBe('other');
    expect(match(['row 27', 'row 28'], [text], hidden)).toBe('other');
    expect(match(['row 27', 'row 28', 'row 29x'], [text], hidden)).toBe('other');
  });

  test('collapsed frames by their size', () => {
    const long = 'y'.repeat(1_500);
    expect(match(['[Pasted Content 1500 chars]'], [long])).toBe('exact');
    expect(match(['[Pasted Content 1500 chars] #2'], [long])).toBe('exact');
    expect(match(['[Pasted Content 1501 chars]'], [long])).toBe('other');
    expect(match(['half a draft[Pasted Content 1500 chars]'], [long])).toBe('other');
    expect(match(['[Pasted Content 1500 chars][Pasted Content 1500 chars] #2'], [long])).toBe(
      'other',
    );
  });

  test('emoji are compared each, a foreign character behind one is noticed', () => {
    expect(match(['go 😀 and 👩‍👩‍👧 end'], ['go 😀 and 👩‍👩‍👧 end'])).toBe('exact');
    expect(match(['go 👍🏽 1️⃣ ☺️ 🇯🇵'], ['go 👍🏽 1️⃣ ☺️ 🇯🇵'])).toBe('exact');
    expect(match(['go 😀 and 👩‍👩‍'], ['go 😀 and 👩‍👩‍👧 end'])).toBe('partial');
    expect(match(['go 😀C and'], ['go 😀 and'])).toBe('other');
    expect(match(['go 😀'], ['go 😎'])).toBe('other');
    expect(match(['😀😀😀'], ['😀😀'])).toBe('other');
    expect(match(['go 🇯🇵x'], ['go 🇯🇵'])).toBe('other');
    expect(match(['go 😀 and x'], ['go 😀 and'])).toBe('other');
  });

  test('columns the engine counts and the terminal does not', () => {
    expect(match(['sym ☺️  ❤️  z'], ['sym ☺️ ❤️ z'])).toBe('exact');
    expect(match(['sym ☺️ ❤️ z'], ['sym ☺️ ❤️ z'])).toBe('exact');
    expect(match(['1️⃣ 2️⃣  k'], ['1️⃣2️⃣ k'])).toBe('exact');
    expect(match(['☝️🏽  x'], ['☝️🏽x'])).toBe('exact');
    expect(match(['🏃‍♂k end'], ['🏃‍♂ end'])).toBe('exact');
    expect(match(['🏃‍♂kk end'], ['🏃‍♂ end'])).toBe('other');
    expect(match(['🏃‍♂️  end'], ['🏃‍♂️ end'])).toBe('exact');
    expect(match(['🏃‍♂️ xend'], ['🏃‍♂️ end'])).toBe('other');
    expect(match(['किk नk'], ['कि न'])).toBe('other');
    expect(match(['किk न'], ['कि न'])).toBe('exact');
  });

  test('rows of emoji wrap where the next word has no room', () => {
    const keycaps = Array.from({ length: 17 }, () => '1️⃣').join('');
    expect(match([keycaps, 'end'], [`${keycaps} end`])).toBe('exact');
    const families = Array.from({ length: 17 }, () => '👩‍👩‍👧').join('');
    expect(match([families, 'end'], [`${families} end`])).toBe('exact');
    expect(match(['😀', 'end'], ['😀 end'])).toBe('other');
  });

  test('marks and zero width', () => {
    expect(match(['e\u0301a'], ['\u00e9a'])).toBe('exact');
    expect(match(['z  end'], ['z \u202e\u200b end'])).toBe('exact');
  });
});

const special = fileURLToPath(
  new URL('../../../../fixtures/codex/0.169.0/composer-special.cast', import.meta.url),
);

/** Pastes of the recording and what the draft after them is to their text. */
const pastes: readonly [mark: string, expected: DraftMatch][] = [
  ['paste "/nonexist foo"', 'exact'],
  ['paste "@con"', 'partial'],
  ['paste "$skill"', 'partial'],
  ['paste "?"', 'exact'],
  ['len 999', 'exact'],
  ['len 1000', 'exact'],
  ['len 1001', 'exact'],
  ['cjk 1000', 'exact'],
  ['cjk 1001', 'exact'],
  ['emoji 1000', 'exact'],
  ['emoji 1001', 'exact'],
  ['combining 500', 'exact'],
  ['combining 501', 'exact'],
  ['40 lines 80 chars', 'exact'],
  ['two big same len', 'other'],
  ['ctl', 'exact'],
  ['draft+paste', 'other'],
  ['home + paste', 'other'],
];

test('every paste of a recording is told from its draft', async () => {
  const cast = await loadCast(special);
  const reader = new CodexReader('0.169.0');
  const found = new Map<string, { at: number; text: string }>();
  let text = '';
  for (const event of cast.events) {
    if (event.kind === 'i') {
      const paste = /^\u001b\[200~(.*)\u001b\[201~$/su.exec(event.data);
      if (paste) text = paste[1] ?? '';
    }
    if (event.kind === 'm') found.set(event.data, { at: event.atSeconds, text });
  }
  const moments = pastes.map(([mark]) => found.get(mark)?.at ?? 0);
  const screens = replayScreens(cast, moments);
  for (const [mark, expected] of pastes) {
    const { value: snapshot } = await screens.next();
    if (!snapshot) throw new Error('a screen is missing');
    // The engine dropped these when it took the paste.
    const body = (found.get(mark)?.text ?? '')
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/gu, '')
      .replace(/\[\d*m/gu, '');
    const match = reader.matchDraft(
      reader.read(snapshot),
      { frames: [body], text: body },
      snapshot,
    );
    expect.soft(match, mark).toBe(expected);
  }
});
