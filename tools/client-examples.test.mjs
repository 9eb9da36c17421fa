import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon } from '@ostler/daemon';
import { simulatedEngine, simulatedLaunch } from '@ostler/lab';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './root.mjs';

const run = promisify(execFile);
const dir = mkdtempSync(join(tmpdir(), 'ostler-examples-'));
const stateDir = join(dir, 'state');
let daemon;
let agent;

beforeAll(async () => {
  daemon = await Daemon.start({ stateDir, engines: [simulatedEngine], version: '0.0.0' });
  agent = await simulatedLaunch({ script: {} });
  const { connectLocal } = await import('@ostler/client/node');
  const client = await connectLocal({ stateDir });
  const { args, command, cwd, engine, env } = agent;
  await client.agent.launch({ name: 'one', engine, command, args, cwd, env, cleanEnv: true });
  await client.close();
});

afterAll(async () => {
  await daemon?.close();
  await agent?.[Symbol.asyncDispose]?.();
  rmSync(dir, { recursive: true, force: true });
});

const example = (name, ...args) =>
  run(process.execPath, [join('docs/examples', name), stateDir, ...args], {
    cwd: root,
    timeout: 50_000,
  });

test('the client sends a message and reads its receipt', { timeout: 60_000 }, async () => {
  const { stderr, stdout } = await example('connect-a-client.mjs', 'Hello.');
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^receipt: /);
  expect(stdout).toMatch(/one reached completed\n$/);
  expect(agent.control.received().map(({ text }) => text)).toContain('Hello.');
});

test('a result is spoken by one run and by no later one', { timeout: 60_000 }, async () => {
  const inbox = join(dir, 'inbox.sqlite');
  const first = await example('speak-results-once.mjs', inbox, 'ask-1', 'What is it?');
  expect(first.stderr).toBe('');
  expect(first.stdout).toMatch(/result: stored \n(.*\n)*speaking: /);
  const again = await example('speak-results-once.mjs', inbox, 'ask-2', 'And now?');
  expect(again.stderr).toBe('');
  expect(again.stdout.match(/speaking: /g)).toHaveLength(1);
});
