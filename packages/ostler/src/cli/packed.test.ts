import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CliWorld, main, unpacked } from './testing/cli-world.js';

test('the packed command line has the same commands and help', async () => {
  await using plain = new CliWorld(unpacked);
  await using one = new CliWorld();
  for (const args of [['--help'], ['up', '--help'], ['mail', 'send', '--help'], ['--version']]) {
    expect(await one.run(args)).toEqual(await plain.run(args));
  }
});

test('its daemon starts its host, serves WebSocket, and delivers', async () => {
  await using world = new CliWorld();
  const ready = await world.up('--listen', '127.0.0.1:0', '--log-level', 'silent');
  expect(ready).toMatchObject({ ready: true, socket: join(world.stateDir, 'ostler.sock') });
  await world.run(['run', 'one', '--engine', 'simulated', '--detach']);
  const sent = await world.run(['send', 'one', 'Hello.', '--wait', 'settled', '--json']);
  expect(JSON.parse(sent.stdout)).toMatchObject({ receipt: { state: 'completed' } });
  expect(await world.json('status')).toMatchObject({ hosts: [{ agents: 1 }] });
});

test('the code of others comes with its licence', () => {
  const notices = readFileSync(join(main, '..', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  for (const name of ['@xterm/headless', 'commander', 'pino', 'xstate', 'zod']) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'));
  }
  expect(notices).toContain('Permission is hereby granted');
});
