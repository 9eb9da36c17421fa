import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sequentialIds } from '@ostler/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClaudeEngine } from './engine.js';
import { sessionIdOf } from './launch.js';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "claude launch's "));
  const file = path.join(directory, 'claude');
  await writeFile(file, '#!/bin/sh\necho "2.1.328 (Claude Code)"\n');
  await chmod(file, 0o755);
});
afterEach(() => rm(directory, { recursive: true }));

const plan = (args: readonly string[], command?: string) =>
  createClaudeEngine({ ids: sequentialIds() }).planLaunch({
    ...(command === undefined ? {} : { command }),
    args,
    cwd: directory,
    env: { PATH: `${directory}:/usr/bin:/bin`, HOME: directory },
    sessionDir: directory,
  });

test('names the session and hands over hooks, and leaves the rest as it was', async () => {
  const planned = await plan(['--model', 'opus', 'a prompt']);
  const settings = path.join(directory, 'claude-settings.json');
  expect(planned).toEqual({
    file: path.join(directory, 'claude'),
    args: [
      '--session-id',
      '00000000-0000-4000-8000-000000000001',
      '--settings',
      settings,
      '--model',
      'opus',
      'a prompt',
    ],
    env: { PATH: `${directory}:/usr/bin:/bin`, HOME: directory },
    version: '2.1.328',
    sessionId: '00000000-0000-4000-8000-000000000001',
  });
  const { hooks } = JSON.parse(await readFile(settings, 'utf8')) as { hooks: object };
  expect(Object.keys(hooks)).toEqual(['UserPromptSubmit', 'SessionStart', 'SessionEnd']);
  expect((await stat(path.join(directory, 'claude-hooks'))).mode & 0o777).toBe(0o700);
  expect((await readdir(directory)).sort()).toEqual([
    'claude',
    'claude-hook.sh',
    'claude-hooks',
    'claude-settings.json',
  ]);
});

test.each([
  [['--resume', 'x'], ['--settings']],
  [['-c'], ['--settings']],
  [['--session-id=abc'], ['--settings']],
  [['--settings', '{}'], ['--session-id']],
  [['-p', 'hi'], []],
])('what the caller chose stays: %j', async (args, added) => {
  const planned = await plan(args);
  const ours = planned.args.slice(0, planned.args.length - args.length);
  expect(ours.filter((argument) => argument.startsWith('--'))).toEqual(added);
  expect(planned.args.slice(-args.length)).toEqual(args);
});

test('says what to do when it is not there', async () => {
  await expect(plan([], 'no-such-claude')).rejects.toMatchObject({
    code: 'ENGINE_NOT_FOUND',
    message: expect.stringContaining('npm install -g') as string,
  });
});

test('reads the session id back', () => {
  expect(sessionIdOf(['--session-id', 'a'])).toBe('a');
  expect(sessionIdOf(['--session-id=b'])).toBe('b');
  expect(sessionIdOf(['--resume', 'c'])).toBeNull();
});
