import { describe, expect, test } from 'vitest';
import { fingerprintOf, prepareCodexBody } from './body.js';

const newest = '0.169.0';

function framesOf(text: string, version: string | null = newest): readonly string[] {
  const verdict = prepareCodexBody(text, version);
  if (verdict.kind === 'refused') throw new Error(verdict.reason);
  return verdict.body.frames;
}

function reasonOf(text: string, version: string | null = newest): string {
  const verdict = prepareCodexBody(text, version);
  return verdict.kind === 'refused' ? verdict.reason : 'ready';
}

describe('a text stays a prompt', () => {
  test.each([
    ['hello there', ['hello there']],
    ['/model', [' /model']],
    ['  /model\nmore  ', [' /model\nmore']],
    ['!rm -rf x', [' !rm -rf x']],
    ['look @con', ['look @con ']],
    ['use $skill', ['use $skill ']],
    ['@', ['@ ']],
    ['/status @con', [' /status @con ']],
    ['$skill in the middle', ['$skill in the middle']],
    ['#x & ?', ['#x & ?']],
    ['/home/dev/pic.PNG', [' /home/dev/pic.P', 'NG']],
    ["'a b.jpeg'", ["'a b.j", "peg'"]],
    ['[Pasted Content 1500 chars]', ['[Pasted Content 1500 chars]']],
  ])('%j', (text, frames) => {
    expect(framesOf(text)).toEqual(frames);
  });

  test('what collapses needs no guard and gets none', () => {
    const text = `!${'x'.repeat(1_000)}@con`;
    expect(framesOf(text)).toEqual([text]);
  });

  test('all frames together are the recorded text but for white space at its ends', () => {
    for (const text of ['/model', 'a @b', 'pic.png', '!x', ' \n/x $y\n ']) {
      expect(framesOf(text).join('').trim()).toBe(text.trim());
    }
  });
});

describe('refusals', () => {
  test('blank', () => {
    expect(reasonOf(' \n\t\u0007 ')).toBe('blank');
  });

  test('half a surrogate pair', () => {
    expect(reasonOf('a\ud83d')).toBe('lone_surrogate');
  });

  test('a shell line where a space in front does not help, or nothing is known', () => {
    expect(reasonOf('!ls', '0.156.1')).toBe('shell_line');
    expect(reasonOf('!ls', null)).toBe('shell_line');
    expect(reasonOf('!ls', '0.200.0')).toBe('shell_line');
    expect(reasonOf(`!${'x'.repeat(1_000)}`, '0.156.1')).toBe('ready');
    expect(reasonOf(`!${'x'.repeat(1_000)}`, null)).toBe('shell_line');
  });

  test('a slash text where nothing is known', () => {
    expect(reasonOf('/model', '0.156.1')).toBe('ready');
    expect(reasonOf('/model', '0.130.0')).toBe('slash_command');
    expect(reasonOf('/model', null)).toBe('slash_command');
  });
});

test('the fingerprint is that of the recorded text', () => {
  const recorded = fingerprintOf('a\tb\nc');
  expect(fingerprintOf('  a\tb\r\nc\n\n')).toBe(recorded);
  expect(fingerprintOf('a\tb\rc')).toBe(recorded);
  expect(fingerprintOf('a\u0001\tb\nc\u009b')).toBe(recorded);
  expect(fingerprintOf('a b\nc')).not.toBe(recorded);
  expect(recorded).toMatch(/^[0-9a-f]{64}$/);
});

test('paste brackets within a text go whole', () => {
  expect(framesOf('abc\u001b[201~\rdef')).toEqual(['abc\ndef']);
});
