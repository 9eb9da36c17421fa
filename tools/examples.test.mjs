import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from './root.mjs';

const run = promisify(execFile);

test('the tutorial prints what it says', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await run(process.execPath, ['docs/examples/first-message.mjs'], {
    cwd: root,
  });
  expect(stderr).toBe('');
  expect(stdout).toContain('first: accepted - again: duplicate\n');
  expect(stdout).toContain('receipt: completed accepted record\n');
  expect(stdout.endsWith('the agent was given: [{"text":"Hello, agent.","count":1}]\n')).toBe(true);
});

test('the demo prints one JSON document and nothing else', { timeout: 60_000 }, async () => {
  const { stdout } = await run(process.execPath, ['tools/run.mjs', 'demo', '--json'], {
    cwd: root,
  });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({
    engine: 'simulated',
    claims: { agree: true, failed: [] },
  });
});
