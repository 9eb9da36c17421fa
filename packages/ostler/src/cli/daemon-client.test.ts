import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DaemonClient } from './daemon-client.js';
import { CliWorld, main } from './testing/cli-world.js';

const world = new CliWorld();
const many = 300;

beforeAll(async () => {
  const rates = ['--rate-burst', '10000', '--rate-per-second', '10000'];
  await world.up('--log-level', 'silent', ...rates);
  await world.run(['run', 'one', '--engine', 'simulated', '--detach']);
});
afterAll(() => world[Symbol.asyncDispose]());

test('a long list is as long as one frame takes, the newest first', async () => {
  await using client = await DaemonClient.connect(world.stateDir);
  const { agents } = await client.call('agents.list', {});
  const [{ agentId, machineId } = { agentId: '', machineId: '' }] = agents;
  for (let number = 0; number < many; number += 1) {
    const idempotencyKey = `a-key-of-the-greatest-length-${String(number).padStart(35, '0')}`;
    await client.call('turn.stop', { machineId, agentId, idempotencyKey });
  }
  const { code, stdout } = await world.run(['receipts', 'list', '--limit', '512', '--json']);
  expect(code).toBe(0);
  expect(stdout.length).toBeLessThanOrEqual(64 * 1024);
  const { receipts } = JSON.parse(stdout) as { receipts: readonly { idempotencyKey: string }[] };
  expect(receipts.length).toBeGreaterThan(many / 4);
  expect(receipts.length).toBeLessThan(many);
  expect(receipts[0]?.idempotencyKey).toContain(String(many - 1));
});

test('a message from stdin may come late, whole and with one line break less', async () => {
  const child = spawn(process.execPath, [main, 'send', 'one', '--key', 'late', '--json'], {
    env: world.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write('first ');
  await once(child, 'spawn');
  // As much as the program takes to start: what is read is not there at once.
  await world.run(['agents']);
  child.stdin.end('second\n');
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(0);
  const again = await world.json('send', 'one', 'first second', '--key', 'late');
  expect(again).toMatchObject({ status: 'duplicate' });
});

test('who reads no further ends a stream quietly', async () => {
  const child = spawn(process.execPath, [main, 'events', '--json'], {
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  const first = once(child.stdout, 'data');
  let open = true;
  void first.then(() => {
    child.stdout.destroy();
    open = false;
  });
  void ended.then(() => (open = false));
  while (open) await world.run(['send', 'one', 'more']);
  await world.run(['send', 'one', 'and more']);
  expect((await ended)[0]).toBe(0);
  expect(said).toBe('');
});

test('without an answer it is in doubt, and the key is named', async () => {
  const dir = join(world.stateDir, 'silent');
  mkdirSync(dir);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().trim().split('\n')) {
        const { requestId, type } = JSON.parse(line) as { requestId: string; type: string };
        const machineId = 'm';
        const agent = { machineId, agentId: 'a', name: 'one', engine: 'e', version: null };
        const answers: Readonly<Record<string, object>> = {
          hello: {
            ...{ proto: 1, machineId, serverInstanceId: 's' },
            ...{ capabilities: [], resumed: false, cursor: 0 },
          },
          'agents.list': {
            machineId,
            agents: [{ ...agent, state: 'idle', queued: 0 }],
            complete: true,
          },
        };
        const answer = answers[type];
        if (answer) {
          socket.write(`${JSON.stringify({ type: `${type}_result`, requestId, ...answer })}\n`);
        } else socket.destroy();
      }
    });
  });
  server.listen(join(dir, 'ostler.sock'));
  await once(server, 'listening');
  const sent = await world.run(['send', 'one', 'Text', '--key', 'mine', '--state-dir', dir]);
  server.close();
  expect(sent.code).toBe(5);
  expect(sent.stderr).toContain('ostler receipts get mine');
});

test('events go on where they were left', async () => {
  const told = async (resume: string): Promise<Readonly<Record<string, unknown>>> => {
    const limits = ['--count', '1', '--timeout', '2'];
    const { stdout } = await world.run(['events', '--json', ...limits, '--resume', resume]);
    return JSON.parse(stdout.split('\n')[0] ?? '') as Readonly<Record<string, unknown>>;
  };
  await world.run(['send', 'one', 'an event', '--wait', 'settled']);
  const missing = await told('another-instance:1');
  expect(missing).toMatchObject({ type: 'resync', reason: 'instance_changed' });
  const { cursor, serverInstanceId } = missing;
  const next = await told(`${String(serverInstanceId)}:${Number(cursor) - 1}`);
  expect(next).toMatchObject({ type: 'event', eventId: cursor });
  expect((await world.run(['events', '--resume', 'nonsense'])).code).toBe(2);
});

test('doctor finds what it looks at, and a fault makes 1', async () => {
  chmodSync(world.stateDir, 0o755);
  const open = await world.run(['doctor', '--json']);
  chmodSync(world.stateDir, 0o700);
  expect(open.code).toBe(1);
  const { findings, ok } = JSON.parse(open.stdout) as { findings: object[]; ok: boolean };
  expect(ok).toBe(false);
  expect(findings).toContainEqual(
    expect.objectContaining({ what: 'state directory', level: 'fault' }),
  );
  expect(findings).toContainEqual({
    what: 'native terminal',
    level: 'ok',
    saw: 'opens a terminal',
  });
});

test('down may end the agents too', async () => {
  const own = new CliWorld();
  await own.up('--log-level', 'silent');
  await own.run(['run', 'two', '--engine', 'simulated', '--detach']);
  expect((await own.run(['agents', '--names'])).stdout).toBe('two\n');
  const stopped = await own.json('down', '--with-agents');
  expect(stopped).toMatchObject({ agents: 0, livingOn: 0 });
  expect(existsSync(join(own.stateDir, 'ostler.sock'))).toBe(false);
  await own[Symbol.asyncDispose]();
});

test('bash completes the names of agents', async () => {
  const { stdout } = await world.run(['completions', 'bash']);
  const complete = (...words: readonly string[]): readonly string[] => {
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _ostler; echo "\${COMPREPLY[@]}"`;
    const ostler = `ostler() { '${process.execPath}' '${main}' "$@"; }`;
    const options = { encoding: 'utf8', env: { ...world.env } } as const;
    const shell = spawnSync('bash', ['-c', `${ostler}\n${stdout}\n${line}`], options);
    return shell.stdout.trim().split(' ');
  };
  expect(complete('ostler', 'send', 'o')).toEqual(['one']);
  expect(complete('ostler', 'events', '--agent', '')).toEqual(['one']);
  expect(complete('ostler', 'run', 'o')).toEqual(['']);
});

test('an open question is shown, and answered by its own words only', async () => {
  const open = { do: 'open', dialog: { kind: 'question', title: 'Which way?' } };
  const asking = { ...open, dialog: { ...open.dialog, options: ['Left', 'Right'] } };
  const script = { plan: [{ when: { on: 'ready' }, actions: [asking] }] };
  const own = ['--', process.execPath, '--script-json', JSON.stringify(script)];
  await world.run(['run', 'two', '--engine', 'simulated', '--detach', ...own]);
  const shown = async (): Promise<string> => (await world.run(['answer', 'two'])).stdout;
  let question = await shown();
  while (question === 'two asks nothing\n') question = await shown();
  expect(question).toMatch(/Which way\?\n {2}Left\n {2}Right/);
  expect((await world.run(['answer', 'two', 'Left', 'Right'])).code).toBe(2);
  const answered = await world.run(['answer', 'two', 'Right', '--json']);
  expect(JSON.parse(answered.stdout)).toMatchObject({ receipt: { operation: 'question.answer' } });
  expect(answered.code).toBe(0);
  while (question !== 'two asks nothing\n') question = await shown();
  expect((await world.run(['answer', 'two', 'Right'])).stderr).toContain('asks nothing');
});
