import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compareVersions, findExecutable, probeVersion } from './find-executable.js';

let directory: string;
const env = { PATH: process.env.PATH ?? '' };

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'find-executable-'));
});

afterEach(() => fs.rmSync(directory, { recursive: true }));

function script(name: string, body: string, mode = 0o755): string {
  const file = path.join(directory, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode });
  return file;
}

test('a name is looked up on the given PATH only, first executable wins', async () => {
  script('a/tool', 'exit 0', 0o644);
  const second = script('b/tool', 'exit 0');
  const where = { searchPath: `${directory}/a:${directory}/b`, cwd: directory };
  expect(await findExecutable('tool', where)).toBe(second);
  expect(await findExecutable('tool', { ...where, searchPath: `${directory}/a` })).toBeNull();
  expect(await findExecutable('./b/tool', where)).toBe(second);
  expect(await findExecutable(directory, where)).toBeNull();
  expect(await findExecutable('', where)).toBeNull();
});

test('the version is the first x.y.z printed', async () => {
  const file = script('v', 'echo "tool-cli 1.20.3-alpha.2 (build 9.9.9)"');
  expect(await probeVersion(file, { cwd: directory, env })).toBe('1.20.3-alpha.2');
});

test('no version: failure, silence, a missing file, endless output', async () => {
  const where = { cwd: directory, env };
  expect(await probeVersion(script('f', 'echo 1.2.3; exit 1'), where)).toBeNull();
  expect(await probeVersion(script('s', 'exit 0'), where)).toBeNull();
  expect(await probeVersion(path.join(directory, 'none'), where)).toBeNull();
  expect(await probeVersion(script('h', 'sleep 60 & sleep 60'), { ...where, timeoutMs: 50 })).toBe(
    null,
  );
});

test('versions compare by number', () => {
  expect(compareVersions('0.106.0', '0.99.12')).toBeGreaterThan(0);
  expect(compareVersions('0.106.0', '0.106.0-alpha.1')).toBe(0);
  expect(compareVersions('1.0', '1.0.1')).toBeLessThan(0);
});
