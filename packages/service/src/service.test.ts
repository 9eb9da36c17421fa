import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ScriptInput,
  type SimulatedLaunch,
  simulatedEngine,
  simulatedLaunch,
} from '@ostler/lab';
import { randomIds, silentLogger, systemClock } from '@ostler/runtime';
import { openStore } from '@ostler/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentSession } from './agent-session.js';
import { Service } from './service.js';

let dir: string;
let service: Service;
const launches: SimulatedLaunch[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ostler-service-'));
  service = openService();
});

afterEach(async () => {
  await service.close();
  for (const launch of launches.splice(0)) await launch[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

function openService(): Service {
  return new Service({
    store: openStore({ stateDir: join(dir, 'state'), clock: systemClock, ids: randomIds }),
    sessionsDir: join(dir, 'state', 'sessions'),
    engines: [simulatedEngine],
    clock: systemClock,
    ids: randomIds,
    logger: silentLogger,
    limits: {},
    maxAgents: 4,
  });
}

async function launch(
  script: ScriptInput,
): Promise<{ agent: AgentSession; simulated: SimulatedLaunch }> {
  const simulated = await simulatedLaunch({ script });
  launches.push(simulated);
  const { args, command, cwd, engine, env } = simulated;
  const agent = await service.launch({ engine, command, args, cwd, env, cols: 80, rows: 24 });
  return { agent, simulated };
}

function send(
  agentId: string,
  idempotencyKey: string,
  text: string,
): ReturnType<Service['turnSend']> {
  const { machineId } = service;
  const requestId = randomIds.uuid();
  return service.turnSend('local', {
    type: 'turn.send',
    requestId,
    machineId,
    agentId,
    idempotencyKey,
    text,
  });
}

const until = (key: string, goal: 'accepted' | 'started' | 'settled') =>
  service.receiptWait('local', { idempotencyKey: key, until: goal, timeoutMs: 9_000 });

describe('one message into a simulated agent', () => {
  test('a receipt moves from queued to completed, and the model got the text once', async () => {
    const { agent, simulated } = await launch({ turns: [{ forMs: 50, answer: 'done' }] });
    expect(send(agent.agentId, 'a', 'hello there').status).toBe('accepted');
    const { receipt, waitEnded } = await until('a', 'settled');
    expect(waitEnded).toBe('reached');
    expect(receipt).toMatchObject({ state: 'completed', error: null });
    expect(receipt.turnId).not.toBeNull();
    expect(await simulated.control.received()).toEqual([{ text: 'hello there', count: 1 }]);
  });

  test('a duplicate gets the stored receipt, another intent a conflict, and nothing is typed twice', async () => {
    const { agent, simulated } = await launch({ turns: [{ forMs: 20 }] });
    send(agent.agentId, 'a', 'once');
    await until('a', 'settled');
    expect(send(agent.agentId, 'a', 'once')).toMatchObject({
      status: 'duplicate',
      receipt: { state: 'completed' },
    });
    expect(() => send(agent.agentId, 'a', 'twice')).toThrow(
      expect.objectContaining({ code: 'IDEMPOTENCY_CONFLICT' }),
    );
    expect(await simulated.control.received()).toEqual([{ text: 'once', count: 1 }]);
  });

  test('B sent while A runs is steered, and both are tied to their turn', async () => {
    const { agent, simulated } = await launch({
      turns: [{ text: 'long', until: 'finish' }],
      boundaryMs: 50,
    });
    send(agent.agentId, 'a', 'a long task');
    await until('a', 'started');
    send(agent.agentId, 'b', 'and this');
    const { receipt } = await until('b', 'accepted');
    expect(receipt.input).toMatchObject({ mode: 'steering', phase: 'accepted' });
    await until('b', 'started');
    await simulated.control.release('finish');
    expect((await until('a', 'settled')).receipt.state).toBe('completed');
    expect((await until('b', 'settled')).receipt.state).toBe('completed');
  });
});
