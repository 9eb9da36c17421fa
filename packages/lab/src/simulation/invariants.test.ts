import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { invariants } from './invariants.js';

const document = readFileSync(
  new URL('../../../../docs/explanation/invariants.md', import.meta.url),
  'utf8',
);

test('the document states each invariant as the code does, and no other', () => {
  const stated = [...document.matchAll(/^\| `([a-z-]+)` \| (.+) \|$/gmu)].map(
    ([, name, sentence]) => ({ name, sentence }),
  );
  expect(stated).toEqual(invariants.map(({ name, sentence }) => ({ name, sentence })));
});

test('each invariant has a name of its own and checks something', () => {
  expect(new Set(invariants.map(({ name }) => name)).size).toBe(invariants.length);
  for (const { checks } of invariants) expect(Object.keys(checks).length).toBeGreaterThan(0);
});
