import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { planCodexLaunch } from './launch.js';

let directory: string;

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'codex-launch-'));
});

afterEach(() => fs.rmSync(directory, { recursive: true }));

function install(version: string): void {
  const body = `#!/bin/sh\necho codex-cli ${version}\n`;
  fs.writeFileSync(path.join(directory, 'codex'), body, { mode: 0o755 });
}

function plan(args: string[], command?: string) {
  const env = { PATH: directory };
  return planCodexLaunch({
    ...(command === undefined ? {} : { command }),
    args,
    cwd: directory,
    env,
    sessionDir: directory,
  });
}

test.each([
  [[], ['--no-daemon']],
  [
    ['-m', 'x'],
    ['--no-daemon', '-m', 'x'],
  ],
  [
    ['resume', 'id'],
    ['--no-daemon', 'resume', 'id'],
  ],
  [['fix the bug'], ['--no-daemon', 'fix the bug']],
  [['--no-daemon'], ['--no-daemon']],
  [
    ['--remote', 'ws://x'],
    ['--remote', 'ws://x'],
  ],
  [
    ['exec', 'x'],
    ['exec', 'x'],
  ],
])('%j', async (args, expected) => {
  install('0.169.0');
  expect(await plan(args)).toMatchObject({
    file: path.join(directory, 'codex'),
    args: expected,
    version: '0.169.0',
  });
});

test('nothing is added for a version that may not know it', async () => {
  install('0.130.0');
  expect((await plan([])).args).toEqual([]);
});

test('not found', async () => {
  await expect(plan([], 'codex-else')).rejects.toMatchObject({ code: 'ENGINE_NOT_FOUND' });
});
