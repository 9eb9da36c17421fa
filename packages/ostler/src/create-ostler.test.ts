import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptInput, simulatedEngine, simulatedLaunch } from '@ostler/lab';
import { Disposables } from '@ostler/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Agent } from './agent.js';
import { createOstler, type Ostler } from './create-ostler.js';

let dir: string;
let ostler: Ostler;
let owned: Disposables;

const coded = (code: string): unknown => expect.objectContaining({ code });

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-embed-'));
  owned = new Disposables();
  owned.defer(() => rmSync(dir, { recursive: true, force: true }));
  ostler = await createOstler({ stateDir: join(dir, 'state'), engines: [simulatedEngine] });
  owned.defer(() => ostler.close());
});

afterEach(() => owned[Symbol.asyncDispose]());

const holds = async (agent: Agent, hold: string): Promise<void> => {
  await expect.poll(async () => (await agent.screen()).reading.hold).toBe(hold);
};

async function launch(script: ScriptInput) {
  const simulated = owned.own(await simulatedLaunch({ script }));
  const { args, command, control, cwd, engine, env } = simulated;
  const agent = await ostler.launch({ engine, command, args, cwd, env, cleanEnv: true });
  return { agent, control };
}

const send = (agent: Pick<Agent, 'agentId'>, idempotencyKey: string, text: string) =>
  ostler.turnSend({ agentId: agent.agentId, idempotencyKey, text });

describe('bad input is a typed error, and nothing is typed or kept', () => {
  test.each([
    ['an empty text', '', 'INVALID_REQUEST'],
    ['a blank text', ' \n\t ', 'INVALID_REQUEST'],
    ['16,385 bytes', 'x'.repeat(16_385), 'PAYLOAD_TOO_LARGE'],
    ['16,385 bytes of two-byte characters', `${'é'.repeat(8_192)}x`, 'PAYLOAD_TOO_LARGE'],
    ['control characters only', '\u0001\u001b\u009b', 'INVALID_REQUEST'],
    ['a lone high surrogate', 'a\ud83d', 'INVALID_REQUEST'],
    ['a lone low surrogate', '\ude00b', 'INVALID_REQUEST'],
  ])('%s', async (_what, text, code) => {
    const { agent, control } = await launch({});
    await control.waitFor('ready');
    await expect(send(agent, 'k', text)).rejects.toThrow(coded(code));
    expect(ostler.receiptGet('k')).toBeNull();
    expect(control.events.map(({ event }) => event)).not.toContain('pasted');
  });

  test.each(['', 'with space', 'a'.repeat(65), 'umläut', '../x'])('the key %j', async (key) => {
    const { agent } = await launch({});
    await expect(send(agent, key, 'text')).rejects.toThrow(coded('INVALID_REQUEST'));
  });

  test('an unknown agent, and one where none runs', async () => {
    const agentId = '00000000-0000-4000-8000-000000000000';
    await expect(send({ agentId }, 'k', 'text')).rejects.toThrow(coded('NO_AGENTS'));
    await launch({});
    await expect(send({ agentId }, 'k', 'text')).rejects.toThrow(coded('AGENT_NOT_FOUND'));
    await expect(send({ agentId: '' }, 'k', 'text')).rejects.toThrow(coded('MISSING_TARGET'));
    expect(ostler.receiptGet('k')).toBeNull();
  });

  test('a closing paste bracket in a text stays text', async () => {
    const { agent, control } = await launch({ turns: [{ forMs: 10 }] });
    await send(agent, 'k', 'before\u001b[201~\rafter');
    await ostler.receiptWait('k', { until: 'settled', timeoutMs: 9_000 });
    await control.waitFor('model_received');
    const texts = control.received();
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatchObject({ count: 1 });
    expect(texts[0]?.text).toContain('after');
  });
});

describe('a launch that cannot be', () => {
  test.each([
    ['an unknown engine', { engine: 'emacs' }, 'ENGINE_UNKNOWN'],
    [
      'an engine missing from PATH',
      { engine: 'codex', env: { PATH: '/nowhere' } },
      'ENGINE_NOT_FOUND',
    ],
    ['a command that is not there', { engine: 'claude', command: '/no/such' }, 'ENGINE_NOT_FOUND'],
    [
      'a program of another name',
      { engine: 'claude', command: process.execPath },
      'ENGINE_VERSION_UNSUPPORTED',
    ],
    ['a relative directory', { engine: 'codex', cwd: 'here' }, 'INVALID_REQUEST'],
    ['a size of nothing', { engine: 'codex', cols: 0 }, 'INVALID_REQUEST'],
  ])('%s', async (_what, options, code) => {
    await expect(
      ostler.launch({ cwd: dir, cleanEnv: true, env: { PATH: '/usr/bin:/bin' }, ...options }),
    ).rejects.toThrow(coded(code));
    expect(ostler.agents()).toEqual([]);
  });

  test('a directory that is not there', async () => {
    const simulated = owned.own(await simulatedLaunch({ script: {} }));
    const { args, command, engine, env } = simulated;
    await expect(
      ostler.launch({ engine, command, args, env, cwd: join(dir, 'missing') }),
    ).rejects.toThrow(coded('PTY_SPAWN_FAILED'));
  });

  test('a name that is taken', async () => {
    const simulated = owned.own(await simulatedLaunch({ script: {} }));
    const { args, command, cwd, engine, env } = simulated;
    await ostler.launch({ engine, command, args, cwd, env, name: 'one' });
    await expect(ostler.launch({ engine, command, args, cwd, env, name: 'one' })).rejects.toThrow(
      coded('NAME_TAKEN'),
    );
  });
});

describe('a state directory that will not do', () => {
  test('one that another instance has', async () => {
    await expect(createOstler({ stateDir: join(dir, 'state') })).rejects.toThrow(
      coded('STORE_LOCKED'),
    );
  });

  test('a corrupt store is refused, and kept as it is', async () => {
    const stateDir = join(dir, 'corrupt');
    const first = await createOstler({ stateDir });
    await first.close();
    const file = join(stateDir, 'ostler.db');
    writeFileSync(file, Buffer.alloc(8_192, 7));
    await expect(createOstler({ stateDir })).rejects.toThrow(coded('STORE_CORRUPT'));
    expect(statSync(file).size).toBe(8_192);
  });

  test('a file where the directory should be', async () => {
    const stateDir = join(dir, 'file');
    writeFileSync(stateDir, '');
    await expect(createOstler({ stateDir })).rejects.toThrow(coded('STORE_DIR_UNWRITABLE'));
  });
});

describe('life', () => {
  test('an abort before the first byte cancels, one after it changes nothing that is known', async () => {
    const { agent, control } = await launch({ turns: [{ forMs: 10 }] });
    await control.waitFor('ready');
    await control.open('permission');
    await holds(agent, 'permission');
    const abort = new AbortController();
    await ostler.turnSend({
      agentId: agent.agentId,
      idempotencyKey: 'a',
      text: 'never mind',
      signal: abort.signal,
    });
    abort.abort();
    expect(ostler.receiptGet('a')).toMatchObject({
      state: 'rejected',
      error: { code: 'cancelled' },
    });
    await control.close();
    await send(agent, 'b', 'this one');
    await ostler.receiptWait('b', { until: 'settled', timeoutMs: 9_000 });
    expect(control.received()).toEqual([{ text: 'this one', count: 1 }]);
  });

  test('two sessions never block each other', async () => {
    const held = await launch({});
    await held.control.waitFor('ready');
    await held.control.open('permission');
    await holds(held.agent, 'permission');
    const free = await launch({ turns: [{ forMs: 10 }] });
    await send(held.agent, 'held', 'waits');
    await send(free.agent, 'free', 'goes');
    const { receipt } = await ostler.receiptWait('free', { until: 'settled', timeoutMs: 9_000 });
    expect(receipt.state).toBe('completed');
    expect(ostler.receiptGet('held')?.state).toBe('queued');
  });

  test('a wait that times out says so, and has changed nothing', async () => {
    const { agent, control } = await launch({});
    await control.waitFor('ready');
    await control.open('permission');
    await holds(agent, 'permission');
    await send(agent, 'a', 'waits');
    const { receipt, waitEnded } = await ostler.receiptWait('a', {
      until: 'accepted',
      timeoutMs: 20,
    });
    expect(waitEnded).toBe('timeout');
    expect(receipt.state).toBe('queued');
    await expect(ostler.receiptWait('nobody', { until: 'accepted', timeoutMs: 1 })).rejects.toThrow(
      coded('RECEIPT_NOT_FOUND'),
    );
    await expect(ostler.receiptWait('a', { until: 'accepted', timeoutMs: 60_001 })).rejects.toThrow(
      coded('INVALID_REQUEST'),
    );
  });

  test('`await using` drains what is under way, then ends the agent', async () => {
    const other = join(dir, 'other');
    const simulated = owned.own(await simulatedLaunch({ script: { turns: [{ forMs: 10 }] } }));
    {
      await using own = await createOstler({ stateDir: other, engines: [simulatedEngine] });
      const { args, command, cwd, engine, env } = simulated;
      const agent = await own.launch({ engine, command, args, cwd, env });
      await own.turnSend({ agentId: agent.agentId, idempotencyKey: 'a', text: 'drained' });
    }
    expect(simulated.control.received()).toEqual([{ text: 'drained', count: 1 }]);
    await using again = await createOstler({ stateDir: other });
    expect(again.receiptGet('a')?.input?.phase).toBe('accepted');
  });

  test('a closed instance takes nothing more', async () => {
    const { agent } = await launch({});
    await ostler.close();
    await ostler.close();
    await expect(send(agent, 'a', 'late')).rejects.toThrow(coded('CLOSED'));
  });
});
