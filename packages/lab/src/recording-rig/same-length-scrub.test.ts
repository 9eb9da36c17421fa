import { expect, test } from 'vitest';
import { sameLengthScrub } from './same-length-scrub.js';

test('what replaces a path is as long as the path', () => {
  const text = 'at /a/very/long/machine/path/work, and /a/very/long/machine/path';
  const scrubbed = sameLengthScrub(text, [
    ['/a/very/long/machine/path/work', '/home/dev/project-'],
    ['/a/very/long/machine/path', '/home/dev-'],
  ]);
  expect(scrubbed).toHaveLength(text.length);
  expect(scrubbed).not.toContain('machine');
});

test('a replacement that is too long is cut', () => {
  expect(sameLengthScrub('/r/w!', [['/r/w', '/home/dev/project-']])).toBe('/hom!');
});
