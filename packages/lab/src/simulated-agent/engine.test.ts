import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { simulatedEngine, simulatedProgram } from './engine.js';
import { simulatedLaunch } from './launch.js';

const request = { cwd: '/', env: {}, sessionDir: '/session' };

test('a launch names the program, the script and the record, and its version tells the busy rule', async () => {
  const args = ['--script-json', '{"busyRule":"native_queue"}'];
  const plan = await simulatedEngine.planLaunch({ ...request, args });
  expect(plan).toEqual({
    file: process.execPath,
    args: [simulatedProgram(), ...args, '--record', '/session/record.jsonl'],
    env: {},
    version: '1.0.0+native-queue',
  });
});

test('a script may be a file; a missing or wrong one is told', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'simulated-script-'));
  try {
    const file = path.join(dir, 'script.json');
    writeFileSync(file, '{"version":"2.0.0"}');
    const plan = await simulatedEngine.planLaunch({ ...request, args: ['--script', file] });
    expect(plan.version).toBe('2.0.0+steering');
    const missing = simulatedEngine.planLaunch({ ...request, args: ['--script', `${file}.not`] });
    await expect(missing).rejects.toMatchObject({ code: 'ENGINE_NOT_FOUND' });
    const wrong = simulatedEngine.planLaunch({ ...request, args: ['--script-json', '[]'] });
    await expect(wrong).rejects.toMatchObject({ code: 'SIMULATED_SCRIPT_INVALID' });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('a wrong script is refused before anything is opened, by the launch and by the program', async () => {
  const script = { swallowEnters: -1 };
  await expect(simulatedLaunch({ script })).rejects.toMatchObject({
    code: 'SIMULATED_SCRIPT_INVALID',
  });
  const args = [simulatedProgram(), '--script-json', JSON.stringify(script)];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 8_000 });
  expect(run.status).toBe(2);
  expect(run.stderr).toContain('swallowEnters');
});

test('the program explains itself', () => {
  const run = spawnSync(process.execPath, [simulatedProgram(), '--help'], {
    encoding: 'utf8',
    timeout: 8_000,
  });
  expect(run.status).toBe(0);
  expect(run.stdout).toContain('--control');
});
