import { describe, expect, test } from 'vitest';
import { AcceptedOnce } from './accepted-once.js';
import { claudeFingerprint, unwrapPastedContent } from './fingerprint.js';

const wrapped = (text: string, first = '93f1', last = first): string =>
  `\n\n<pasted_content id="${first}">\n${text}\n</pasted_content id="${last}">\n`;

describe('the envelope of a collapsed paste', () => {
  test('comes off a whole text with equal ids', () => {
    expect(unwrapPastedContent(wrapped('a\nb'))).toBe('a\nb');
    expect(claudeFingerprint(wrapped('a\nb'))).toBe(claudeFingerprint('a\nb'));
  });
  test.each([
    ['words in front', `intro:${wrapped('a')}`],
    ['words behind', `${wrapped('a')}outro`],
    ['other ids', wrapped('a', '93f1', '93f2')],
    ['two envelopes', wrapped('a') + wrapped('b')],
    ['other inner text', wrapped('b')],
  ])('stays: %s', (_name, text) => {
    expect(claudeFingerprint(text)).not.toBe(claudeFingerprint('a'));
  });
});

test('a text and its record have one fingerprint', () => {
  const pairs: [string, string][] = [
    ['a\r\nb', 'a\nb'],
    ['a\tb', 'a    b'],
    ['abc\n\n', 'abc'],
    [' !ls', '!ls'],
    ['e\u0301', 'é'],
    ['a\u200bb\u00ad', 'ab'],
    ['c\u001b[31mred\u0007', 'cred'],
    ['☺\ufe0f', '☺'],
  ];
  for (const [sent, recorded] of pairs) {
    expect(claudeFingerprint(sent)).toBe(claudeFingerprint(recorded));
  }
  expect(claudeFingerprint('a')).not.toBe(claudeFingerprint('b'));
  expect(claudeFingerprint('a\nb')).not.toBe(claudeFingerprint('a b'));
});

describe('an input told by hook and record', () => {
  const told = (sequence: string): number => {
    const once = new AcceptedOnce();
    const evidence = { h: 'hook', r: 'record' } as const;
    return [...sequence].filter((sign) =>
      once.admits({ text: 'x', evidence: evidence[sign as 'h' | 'r'] }),
    ).length;
  };
  test.each([
    ['hr', 1],
    ['rh', 1],
    ['hhrr', 2],
    ['hrhr', 2],
    ['rrhh', 2],
    ['hrh', 2],
    ['rr', 2],
  ])('%s is %d', (sequence, inputs) => {
    expect(told(sequence)).toBe(inputs);
  });
});
