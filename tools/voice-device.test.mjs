import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from './root.mjs';

const run = promisify(execFile);
const device = 'docs/examples/python/voice_device.py';
const main = 'packages/ostler/dist/cli/main.js';
const script = {
  turns: [{ text: 'List', forMs: 1_500, answer: 'Four files.' }, { answer: 'Done.' }],
  boundaryMs: 200,
};

function hasPython() {
  try {
    execFileSync('python3', ['--version']);
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!hasPython())('the Python device takes every stream as it has to', async () => {
  const { stdout } = await run(
    'python3',
    [device, '--check-fixtures', 'fixtures/turn-correlation-v2'],
    { cwd: root },
  );
  expect(stdout.trim().split('\n')).toHaveLength(8);
});

test.skipIf(!hasPython())(
  'the Python device speaks one answer for two requests',
  {
    timeout: 90_000,
  },
  async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'ostler-voice-'));
    const env = { ...process.env, OSTLER_STATE_DIR: stateDir };
    const engines = 'packages/daemon/conformance/simulated-engine.mjs';
    const up = spawn(
      process.execPath,
      [main, 'up', '--engine-module', engines, '--log-level', 'silent', '--json'],
      { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      const [ready] = await once(createInterface({ input: up.stdout }), 'line');
      const agent = ['--', process.execPath, '--script-json', JSON.stringify(script)];
      await run(
        process.execPath,
        [main, 'run', 'one', '--engine', 'simulated', '--detach', ...agent],
        { cwd: root, env },
      );
      const { stdout } = await run(
        'python3',
        [
          ...[device, JSON.parse(ready).socket, '--outbox', join(stateDir, 'outbox.db')],
          ...['List the files.', 'And count them.'],
        ],
        { cwd: root, env },
      );
      const lines = stdout.trim().split('\n');
      expect(lines.filter((line) => line.startsWith('says: '))).toHaveLength(1);
      expect(lines.filter((line) => line.includes('completed'))).toHaveLength(2);
      expect(stdout).toContain('steering accepted');
      await run(process.execPath, [main, 'down', '--with-agents'], { cwd: root, env });
    } finally {
      up.kill('SIGTERM');
      rmSync(stateDir, { recursive: true, force: true });
    }
  },
);
