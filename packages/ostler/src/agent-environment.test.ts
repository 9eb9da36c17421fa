import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedEngine } from '@ostler/lab';
import { keepAliveClock } from '@ostler/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOstler } from './create-ostler.js';

const sessionId = '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-environment-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Started in the place of the agent: says its environment. */
const agent = (file: string): readonly string[] => [
  '-c',
  `env > ${file}.part && mv ${file}.part ${file} && exec sleep 60`,
];

async function environmentIn(file: string): Promise<Record<string, string>> {
  while (!existsSync(file)) {
    await new Promise<void>((resolve) => void keepAliveClock.setTimer(20, resolve));
  }
  const lines = readFileSync(file, 'utf8').split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const at = line.indexOf('=');
      return at > 0 && line.startsWith('OSTLER_') ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}

test.each([true, false])(
  'an agent is told who it is, with a clean environment (%s) too, and never by inheritance',
  async (cleanEnv) => {
    await using ostler = await createOstler({ stateDir: join(dir, 'state') });
    const file = join(dir, 'env');
    const launched = await ostler.launch({
      engine: 'generic',
      command: '/bin/sh',
      args: agent(file),
      cwd: dir,
      cleanEnv,
      env: {
        PATH: '/usr/bin:/bin',
        OSTLER_AGENT_ID: 'another',
        OSTLER_ENGINE: 'another',
        OSTLER_SESSION_ID: 'of another',
      },
    });
    expect(await environmentIn(file)).toMatchObject({
      OSTLER_AGENT_ID: launched.agentId,
      OSTLER_ENGINE: 'generic',
    });
    expect(await environmentIn(file)).not.toHaveProperty('OSTLER_SESSION_ID');
    await launched.close();
  },
);

test('where the session is settled by the launch, the agent is told it', async () => {
  const file = join(dir, 'env');
  // The plan of an engine that names its session, and a program that says what it was given.
  const engine = {
    ...simulatedEngine,
    planLaunch: async (request: Parameters<typeof simulatedEngine.planLaunch>[0]) => ({
      file: '/bin/sh',
      args: agent(file),
      env: request.env,
      version: '1.0.0',
      sessionId,
    }),
  };
  await using ostler = await createOstler({ stateDir: join(dir, 'state'), engines: [engine] });
  const launched = await ostler.launch({
    engine: 'simulated',
    cwd: dir,
    cleanEnv: true,
    env: { PATH: '/usr/bin:/bin' },
  });
  expect(await environmentIn(file)).toEqual({
    OSTLER_AGENT_ID: launched.agentId,
    OSTLER_ENGINE: 'simulated',
    OSTLER_SESSION_ID: sessionId,
  });
  await launched.close();
});
