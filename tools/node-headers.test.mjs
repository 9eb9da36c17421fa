import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headersVersion, ownHeaders } from './node-headers.mjs';

let dir;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-headers-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(place, [major, minor, patch]) {
  mkdirSync(join(dir, place, 'include', 'node'), { recursive: true });
  writeFileSync(
    join(dir, place, 'include', 'node', 'node_version.h'),
    `#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION ${minor}\n#define NODE_PATCH_VERSION ${patch}\n`,
  );
  mkdirSync(join(dir, place, 'bin'), { recursive: true });
  writeFileSync(join(dir, place, 'bin', 'node'), '');
  return join(dir, place, 'bin', 'node');
}

test('headers beside the running Node are taken where their version is its own', () => {
  const node = put('usual', [24, 21, 0]);
  expect(ownHeaders(node, '24.21.0')).toBe(join(dir, 'usual'));
  expect(ownHeaders(node, '24.20.0')).toBeNull();
  expect(headersVersion(join(dir, 'nowhere'))).toBeNull();
});

test("headers in the package of the system are found from npm's own node package", () => {
  const packaged = `node-${process.platform}-${process.arch}`;
  put(join('node', 'node_modules', packaged), [24, 21, 0]);
  mkdirSync(join(dir, 'node', 'bin'), { recursive: true });
  const node = join(dir, 'node', 'bin', 'node');
  writeFileSync(node, '');
  expect(ownHeaders(node, '24.21.0')).toBe(join(dir, 'node', 'node_modules', packaged));
});
