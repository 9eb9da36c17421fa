import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon } from '@ostler/daemon';
import { simulatedEngine, simulatedLaunch } from '@ostler/lab';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from './root.mjs';

const run = promisify(execFile);
const program = join(root, 'docs/examples/python/voice_device.py');
const device = (...args) =>
  run('python3', ['-B', program, ...args], { cwd: root, timeout: 50_000 });

describe.skipIf(!hasPython())('the voice device in Python', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ostler-voice-'));
  const stateDir = join(dir, 'state');
  let daemon;
  let agent;
  let client;

  beforeAll(async () => {
    const listen = { host: '127.0.0.1', port: 0 };
    daemon = await Daemon.start({ stateDir, listen, engines: [simulatedEngine], version: '0.0.0' });
    const turns = [{ text: 'slow', forMs: 1500, answer: 'Slowly.' }, { answer: 'At once.' }];
    agent = await simulatedLaunch({ script: { turns } });
    const { connectLocal } = await import('@ostler/client/node');
    client = await connectLocal({ stateDir });
    const { args, command, cwd, engine, env } = agent;
    await client.agent.launch({ name: 'one', engine, command, args, cwd, env, cleanEnv: true });
  });

  afterAll(async () => {
    await client?.close();
    await daemon?.close();
    await agent?.[Symbol.asyncDispose]?.();
    rmSync(dir, { recursive: true, force: true });
  });

  const inbox = (name) => ['--inbox', join(dir, `${name}.sqlite`), '--patience', '40'];
  const socket = () => ['--socket', daemon.socketPath];

  test('does with the recorded streams what a receiver must do', async () => {
    const { stdout } = await device('--check-fixtures', 'fixtures/turn-correlation-v2');
    expect(stdout).toMatch(/^8 streams, 8 passed, 0 failed$/m);
  });

  test('sends while the agent is busy and speaks what comes', { timeout: 60_000 }, async () => {
    const texts = ['a slow question', 'a second one'];
    const { stderr, stdout } = await device(...socket(), ...inbox('busy'), ...texts);
    expect(stderr).toBe('');
    const lines = stdout.trimEnd().split('\n');
    const at = (line) => lines.indexOf(line);
    expect(at('accepted: a second one')).toBeGreaterThan(at('receipt 1: started accepted'));
    expect(at('accepted: a second one')).toBeLessThan(at('receipt 1: completed accepted'));
    expect(lines.filter((line) => line.startsWith('speaking: '))).toHaveLength(1);
  });

  test('comes in by WebSocket with a token', { timeout: 60_000 }, async () => {
    const { token } = await client.device.add({ name: 'voice' });
    const tokenFile = join(dir, 'token');
    writeFileSync(tokenFile, token);
    const web = ['--url', daemon.listenUrl, '--token-file', tokenFile];
    const { stderr, stdout } = await device(...web, ...inbox('web'), 'a question');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^result: stored\nspeaking: At once\.$/m);
  });

  test('speaks nothing again whose end it does not know', { timeout: 60_000 }, async () => {
    const broken = ['--speak-with', 'exit 7'];
    const first = device(...socket(), ...inbox('broken'), ...broken, 'a question');
    await expect(first).rejects.toMatchObject({ code: 1 });
    const { stdout } = await device(...socket(), ...inbox('broken'), 'another question');
    expect(stdout).toMatch(/^perhaps heard before the device stopped, so not spoken again: /m);
    expect(stdout.match(/speaking: /g)).toHaveLength(1);
  });
});

function hasPython() {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
