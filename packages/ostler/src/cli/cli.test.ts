import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { castReadLimits, readCastFile } from '@ostler/terminal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliWorld, main } from './testing/cli-world.js';

const world = new CliWorld();
let ready: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  ready = await world.up('--listen', '127.0.0.1:0', '--log-level', 'silent');
  await world.run(['run', 'one', '--engine', 'simulated', '--detach']);
});
afterAll(() => world[Symbol.asyncDispose]());

test("an agent's name does nothing to the terminal it is shown on", async () => {
  const name = 'two\u001b]2;title\u0007';
  const { stdout } = await world.run(['run', name, '--engine', 'simulated', '--detach']);
  const told = await world.run(['events', '--count', '1', '--timeout', '5', '--resume', 'none:0']);
  const closed = await world.run(['close', name]);
  for (const shown of [stdout, told.stdout, closed.stdout]) {
    expect(shown).not.toMatch(/[\u001b\u0007]/);
  }
  expect(closed.stdout).toContain('two ]2;title  has ended');
});

test('the ready line says where it serves', () => {
  expect(Object.keys(ready)).toEqual(['ready', 'socket', 'listen', 'serverInstanceId']);
  expect(ready).toMatchObject({ ready: true, socket: join(world.stateDir, 'ostler.sock') });
  expect(ready['listen']).toMatch(/^ws:\/\/127\.0\.0\.1:\d+/);
});

describe('exit codes', () => {
  test.skipIf(!existsSync('/dev/full'))('1: the answer could not be written', () => {
    const full = spawnSync('sh', ['-c', `'${process.execPath}' '${main}' agents > /dev/full`], {
      env: world.env,
      encoding: 'utf8',
    });
    expect(full.status).toBe(1);
    expect(full.stderr).toContain('ENOSPC');
  });

  test('a reader that has gone leaves the receipt its exit code', () => {
    const run = `'${process.execPath}' '${main}' stop one --wait settled --timeout 20`;
    // The pipe's other end is closed before anything is written.
    const gone = spawnSync('bash', ['-c', `exec 3> >(:); sleep 0.3; ${run} >&3`], {
      env: world.env,
    });
    expect(gone.status).toBe(1);
  });

  test('0: a message is delivered, from an argument, stdin and a file', async () => {
    const sent = await world.run(['send', 'one', 'Hello.', '--key', 'a', '--wait', 'settled']);
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    expect(sent.stdout).toMatch(/state +completed/);
    const piped = await world.run(['send', 'one', '-', '--wait', 'settled', '--json'], 'Piped.\n');
    expect(piped.code).toBe(0);
    const file = join(world.stateDir, 'message.md');
    writeFileSync(file, 'From a file.');
    const answer = await world.json('send', 'one', '--file', file, '--wait', 'accepted');
    expect(answer).toMatchObject({ status: 'accepted', waitEnded: 'reached' });
    expect(await world.json('send', 'one', 'Hello.', '--key', 'a')).toMatchObject({
      status: 'duplicate',
    });
  });

  test('1: refused, and the receipt is rejected', async () => {
    const conflict = await world.run(['send', 'one', 'Another.', '--key', 'a', '--json']);
    expect(conflict.code).toBe(1);
    expect(JSON.parse(conflict.stdout)).toMatchObject({ error: { code: 'IDEMPOTENCY_CONFLICT' } });
    const unknown = await world.run(['status', 'nobody']);
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('running: one');
    await world.run(['receipts', 'wait', 'a', '--timeout', '20']);
    const stopped = await world.run(['stop', 'one', '--wait', 'settled', '--timeout', '20']);
    expect(stopped.code).toBe(1);
  });

  test('2: usage', async () => {
    expect((await world.run(['snd'])).code).toBe(2);
    expect((await world.run(['send'])).code).toBe(2);
    expect((await world.run(['send', 'one', 'Text', '--key', 'no blanks'])).code).toBe(2);
    expect((await world.run(['attach', 'one'])).stderr).toContain('must be a terminal');
    expect((await world.run(['run', 'two', '--engine', 'simulated', '--json'])).code).toBe(2);
  });

  test('3: no daemon, and what to do', async () => {
    const nowhere = join(world.stateDir, 'nowhere');
    const asked = await world.run(['agents', '--state-dir', nowhere]);
    expect(asked.code).toBe(3);
    expect(asked.stderr).toContain(`ostler up --state-dir ${nowhere}`);
    expect(existsSync(nowhere)).toBe(false);
  });

  test('4: the time is over', async () => {
    expect((await world.run(['events', '--timeout', '0'])).code).toBe(4);
  });

  test('130: Ctrl-C', async () => {
    const child = spawn(process.execPath, [main, 'watch', '--json'], { env: world.env });
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(130);
  });
});

test('receipts are listed and got again', async () => {
  await world.run(['send', 'one', 'Listed.', '--key', 'listed', '--wait', 'settled']);
  const listed = (await world.json('receipts', '--limit', '1')) as {
    receipts: { idempotencyKey: string }[];
  };
  expect(listed.receipts).toHaveLength(1);
  expect(await world.json('receipts', 'get', 'listed')).toMatchObject({
    receipt: { idempotencyKey: 'listed', state: 'completed', input: { phase: 'accepted' } },
  });
});

test('devices are added, listed and revoked', async () => {
  const added = (await world.json('device', 'add', 'phone')) as { deviceId: string };
  expect(added).toMatchObject({ token: expect.stringMatching(/^ostler_/) });
  await world.run(['device', 'revoke', added.deviceId]);
  expect(await world.json('device', 'list')).toMatchObject({
    devices: [{ name: 'phone', revoked: true }],
  });
});

test('a recording holds the screen as it was found', async () => {
  const file = join(world.stateDir, 'session.cast');
  const recorded = await world.json('record', 'one', file, '--for', '0.3');
  expect(recorded).toMatchObject({ recorded: file, cols: 100, rows: 32, ended: 'time_over' });
  const parts = [];
  for await (const part of readCastFile(file, castReadLimits)) parts.push(part);
  expect(parts.length).toBeGreaterThan(1);
});

test('status and doctor speak of the daemon and its hosts', async () => {
  expect(await world.json('status')).toMatchObject({ agents: 1, stateDir: world.stateDir });
  const doctor = (await world.json('doctor')) as { findings: { what: string; level: string }[] };
  const levels = Object.fromEntries(doctor.findings.map(({ level, what }) => [what, level]));
  expect(levels).toMatchObject({
    'state directory': 'ok',
    'host shared': 'ok',
    'native store': 'ok',
    'native terminal': 'ok',
    Node: 'ok',
    daemon: 'ok',
  });
});

test.each(['bash', 'zsh'])('completions for %s parse', async (shell) => {
  const { stdout } = await world.run(['completions', shell]);
  expect(stdout).toContain('--engine-module');
  expect(spawnSync('bash', ['-n'], { input: stdout }).status).toBe(0);
});

test('bash completes commands, options and choices', async () => {
  const { stdout } = await world.run(['completions', 'bash']);
  const complete = (...words: readonly string[]): readonly string[] => {
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _ostler; echo "\${COMPREPLY[@]}"`;
    const shell = spawnSync('bash', ['-c', `${stdout}\n${line}`], { encoding: 'utf8' });
    return shell.stdout.trim().split(' ');
  };
  expect(complete('ostler', 're')).toEqual(['receipts', 'record', 'replay']);
  expect(complete('ostler', 'device', 're')).toEqual(['revoke']);
  expect(complete('ostler', 'send', 'one', '--wait', 's')).toEqual(
    ['started', 'settled'].slice(0, 2),
  );
});

test('every command has help with an example', { timeout: 180_000 }, async () => {
  const { stdout } = await world.run(['--help']);
  const names = [...stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}(\w+) /gm)].map(
    ([, name]) => name ?? '',
  );
  expect(names).toContain('watch');
  for (const name of names.filter((each) => each !== 'help')) {
    expect((await world.run([name, '--help'])).stdout, name).toMatch(/Examples?:\n {2}/);
  }
});
