import { describe, expect, test } from 'vitest';
import { detachKey } from './detach-key.js';
import { QueryFilter } from './query-filter.js';

const questions = [
  '\u001b[6n',
  '\u001b[?6n',
  '\u001b[5n',
  '\u001b[c',
  '\u001b[0c',
  '\u001b[>c',
  '\u001b[=c',
  '\u001b[>q',
  '\u001b[?2026$p',
  '\u001b[?u',
  '\u001b[14t',
  '\u001b[18t',
  '\u001b]10;?\u0007',
  '\u001b]11;?\u001b\\',
  '\u001b]4;1;?\u0007',
  '\u001b]52;c;?\u0007',
  '\u001bP+q544e\u001b\\',
  '\u001bP$qm\u001b\\',
];
const statements = [
  '\u001b[31mred\u001b[0m',
  '\u001b[?2004h',
  '\u001b[>1u',
  '\u001b[<u',
  '\u001b[2 q',
  '\u001b[22;0t',
  '\u001b]2;a title?\u0007',
  '\u001b]8;;https://example.org/?a\u001b\\link\u001b]8;;\u001b\\',
  '\u001b]52;c;aGk=\u0007',
  '\u001b(B\u001b7\u001b8\u001b=\u001b>',
  'text \u00e9',
];

describe('an agent asks its own terminal, not the viewer', () => {
  test.each(questions)('%j is taken out', (question) => {
    expect(new QueryFilter().take(`a${question}b`)).toBe('ab');
  });

  test.each(statements)('%j stays', (statement) => {
    expect(new QueryFilter().take(`a${statement}b`)).toBe(`a${statement}b`);
  });

  test('wherever it is cut', () => {
    const whole = [...questions, ...statements].join('-');
    const expected = new QueryFilter().take(whole);
    for (let at = 0; at <= whole.length; at += 1) {
      const filter = new QueryFilter();
      expect(filter.take(whole.slice(0, at)) + filter.take(whole.slice(at))).toBe(expected);
    }
  });

  test('a sequence without an end is not held for ever', () => {
    const filter = new QueryFilter();
    const endless = `\u001b]0;${'x'.repeat(8_192)}`;
    expect(filter.take(endless)).toBe(endless);
  });
});

test('the detach key is known in every form, and what stands before it is passed on', () => {
  const key = detachKey('ctrl-]');
  expect(key.before('ab\u001dcd')).toBe('ab');
  expect(key.before('a\u001b[93;5u')).toBe('a');
  expect(key.before('\u001b[27;5;93~')).toBe('');
  // With num lock on, with the shifted key told along, and as a repeat.
  expect(key.before('x\u001b[93;133u')).toBe('x');
  expect(key.before('\u001b[93:125;5:2u')).toBe('');
  // Let go, and pressed with shift.
  expect(key.before('\u001b[93;5:3u')).toBeNull();
  expect(key.before('\u001b[93;6u')).toBeNull();
  expect(key.before('plain ]')).toBeNull();
  expect(detachKey('ctrl-a')).toMatchObject({ name: 'Ctrl-A' });
  expect(detachKey('CTRL-A').before('b\u0001')).toBe('b');
  expect(() => detachKey('x')).toThrow(/ctrl-/);
});
