import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { root } from './root.mjs';

const name = `test-${process.pid}`;
const file = join(root, '.ostler', `${name}.lock`);

afterEach(() => rmSync(file, { force: true }));

/** A process that takes the lock, says so, turns the event loop a hundred times, says so, and lets go. */
function holder() {
  const script = `
    import { underLock } from ${JSON.stringify(join(root, 'tools/lock.mjs'))};
    await underLock(${JSON.stringify(name)}, async () => {
      console.log('in');
      for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
      console.log('out');
    });
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

async function runAll(count) {
  const said = [];
  const codes = await Promise.all(
    Array.from({ length: count }, () => {
      const child = holder();
      child.stdout.on('data', (chunk) => said.push(...String(chunk).trim().split('\n')));
      return new Promise((resolve) => child.once('close', resolve));
    }),
  );
  return { said, codes };
}

test('several at once hold the lock one after another', { timeout: 30_000 }, async () => {
  const { said, codes } = await runAll(4);
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(said).toEqual(['in', 'out', 'in', 'out', 'in', 'out', 'in', 'out']);
});

test('a lock whose holder died is taken over, by one at a time', { timeout: 30_000 }, async () => {
  const dead = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => dead.once('close', resolve));
  mkdirSync(join(root, '.ostler'), { recursive: true });
  writeFileSync(file, `${dead.pid}\n`);
  const { said, codes } = await runAll(3);
  expect(codes).toEqual([0, 0, 0]);
  expect(said).toEqual(['in', 'out', 'in', 'out', 'in', 'out']);
});
