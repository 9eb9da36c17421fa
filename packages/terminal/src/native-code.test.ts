import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

const loaded = (): string[] =>
  Object.keys(createRequire(import.meta.url).cache).filter((path) => /node-pty|\.node$/.test(path));

test('the root loads no native code until a terminal is spawned', async () => {
  const { spawnPty } = await import('./index.js');
  expect(loaded()).toEqual([]);
  await using pty = await spawnPty({
    file: '/bin/true',
    args: [],
    cwd: '/',
    env: {},
    cols: 80,
    rows: 24,
  });
  expect(pty.identity.pid).toBeGreaterThan(0);
  expect(loaded()).not.toEqual([]);
});
