import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCoded } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { defaultRoomDir, openSandbox, type Sandbox } from '../sandbox/sandbox.js';
import { prepareRealEngine } from './real-engine.js';
import type { RealEngineOptions } from './real-engine-request.js';

const platform = `${process.platform}-${process.arch}`;

function install(sandbox: Sandbox): string {
  const enginesDir = join(sandbox.dir, 'engines');
  const file = join(
    enginesDir,
    'claude-2.1.328/node_modules/@anthropic-ai',
    `claude-code-${platform}`,
    'claude',
  );
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  return enginesDir;
}

function prepareClaude(sandbox: Sandbox, options: RealEngineOptions): Record<string, unknown> {
  const { homeDir, workDir } = sandbox;
  prepareRealEngine({
    engine: 'claude',
    version: '2.1.328',
    enginesDir: install(sandbox),
    homeDir,
    workDir,
    modelUrl: 'http://127.0.0.1:1',
    options,
  });
  return JSON.parse(readFileSync(join(homeDir, '.claude.json'), 'utf8')) as Record<string, unknown>;
}

test('an engine that is not installed is named with the command that installs it', async () => {
  await using sandbox = openSandbox({ roomDir: join(defaultRoomDir(), 'tests') });
  try {
    prepareRealEngine({
      engine: 'claude',
      version: '2.1.328',
      enginesDir: sandbox.dir,
      homeDir: sandbox.homeDir,
      workDir: sandbox.workDir,
      modelUrl: 'http://127.0.0.1:1',
    });
    expect.unreachable();
  } catch (failure) {
    expect(isCoded(failure, 'ENGINE_NOT_INSTALLED')).toBe(true);
    expect(String(failure)).toContain('npm run engines -- --only claude-2.1.328');
  }
});

test('the environment is an explicit list without anything of this process', async () => {
  await using sandbox = openSandbox({ roomDir: join(defaultRoomDir(), 'tests') });
  process.env['OSTLER_TEST_LEAK'] = 'leaks';
  try {
    const { command, env } = prepareRealEngine({
      engine: 'claude',
      version: '2.1.328',
      enginesDir: install(sandbox),
      homeDir: sandbox.homeDir,
      workDir: sandbox.workDir,
      modelUrl: 'http://127.0.0.1:1',
    });
    expect(command.endsWith('/claude')).toBe(true);
    expect(env['HOME']).toBe(sandbox.homeDir);
    expect(env).not.toHaveProperty('OSTLER_TEST_LEAK');
  } finally {
    delete process.env['OSTLER_TEST_LEAK'];
  }
});

test('start screens are asked for one by one', async () => {
  await using sandbox = openSandbox({ roomDir: join(defaultRoomDir(), 'tests') });
  const settled = prepareClaude(sandbox, {});
  expect(settled).toMatchObject({
    hasCompletedOnboarding: true,
    hasSeenAutoDefaultNudge: true,
    projects: { [sandbox.workDir]: { hasTrustDialogAccepted: true } },
  });
  const fresh = prepareClaude(sandbox, { onboarded: false, trusted: false, keyApproved: false });
  expect(fresh).not.toHaveProperty('hasCompletedOnboarding');
  expect(fresh).toMatchObject({
    customApiKeyResponses: { approved: [] },
    projects: { [sandbox.workDir]: { hasTrustDialogAccepted: false } },
  });
});
