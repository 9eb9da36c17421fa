import { maxTurnResultBytes, maxTurnResultMembers, turnResultSchema } from '@ostler/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agentId, type Death, RecordedAgent, resultsIn } from './testing/recorded-agent.js';

let agent: RecordedAgent;

beforeEach(() => {
  agent = new RecordedAgent();
});
afterEach(() => agent[Symbol.dispose]());

const statesOf = async (): Promise<Record<string, string | undefined>> => {
  using store = agent.openStore();
  const state = (key: string, device = 'voice') => {
    const receipt = store.getReceipt(device, key);
    return receipt === null ? [] : [[key, receipt.error?.code ?? receipt.state]];
  };
  return Object.fromEntries([...'abc'].flatMap((key) => [...state(key), ...state(key, 'other')]));
};

test('a result whose record was written while no process ran is committed by the next', async () => {
  const [a, b] = agent.dispatch(['a', 'first'], ['b', 'second'], ['c', 'third']);
  agent.consumes('t1', ['r1', 'first'], ['r2', 'second']);
  agent.ends('t1', ['r1', 'r2'], 'Both are done.');
  await using life = await agent.live();
  const [result] = resultsIn(life.told);
  expect(turnResultSchema.parse(result)).toEqual(result);
  expect(result).toMatchObject({
    serverInstanceId: a?.serverInstanceId,
    correlation: {
      scope: 'group',
      inputs: [
        { deliveryId: a?.deliveryId, idempotencyKey: 'a' },
        { deliveryId: b?.deliveryId, idempotencyKey: 'b' },
      ],
      engineTurnId: 't1',
    },
    outcome: 'completed',
    fullText: 'Both are done.',
  });
  const kinds = life.told.map(({ event }) => event.kind);
  expect(kinds.slice(-5)).toEqual([
    'receipt.updated',
    'receipt.updated',
    'turn.result',
    'turn.done',
    'turn.summary',
  ]);
  const told = life.told.find(({ event }) => event.kind === 'turn.result');
  expect(told?.deviceId).toBe('voice');
  // The envelope is of now, the payload of then.
  expect(told?.event.serverInstanceId).not.toBe(result?.serverInstanceId);
  expect(life.store.getReceipt('voice', 'c')?.state).toBe('unknown');
});

describe.each<Death | 'none'>(['before_commit', 'before_emission', 'none'])(
  'a process killed: %s',
  (death) => {
    test('the result is committed once, told the same, and never again', async () => {
      agent.dispatch(['a', 'first'], ['b', 'second']);
      agent.consumes('t1', ['r1', 'first'], ['r2', 'second']);
      agent.ends('t1', ['r1', 'r2'], 'Both are done.');
      const told: unknown[] = [];
      {
        await using life = await agent.live(death === 'none' ? undefined : death);
        told.push(...resultsIn(life.told));
        expect(resultsIn(life.told)).toHaveLength(death === 'none' ? 1 : 0);
      }
      let done = 0;
      for (let again = 0; again < 3; again += 1) {
        await using life = await agent.live();
        told.push(...resultsIn(life.told));
        done += life.told.filter(({ event }) => event.kind === 'turn.done').length;
        const kept = resultsIn(life.store.results('voice'));
        expect(kept).toHaveLength(1);
        for (const each of told) expect(each).toEqual(kept[0]);
        expect(life.store.results('other')).toEqual([]);
      }
      expect(told).toHaveLength(death === 'before_emission' ? 0 : 1);
      expect(done).toBe(death === 'before_commit' ? 1 : 0);
      expect(await statesOf()).toEqual({ a: 'completed', b: 'completed' });
    });
  },
);

test('the same turn has the same id in every process, and is announced once', async () => {
  agent.dispatch(['a', 'first']);
  agent.consumes('t1', ['r1', 'first']);
  const turnIds = [];
  for (let life = 0; life < 2; life += 1) {
    await using now = await agent.live();
    turnIds.push(now.store.getReceipt('voice', 'a')?.turnId);
    const started = now.told.filter(({ event }) => event.kind === 'turn.started');
    expect(started).toHaveLength(life === 0 ? 1 : 0);
  }
  agent.ends('t1', ['r1'], 'Done.');
  await using last = await agent.live();
  const done = last.told.find(({ event }) => event.kind === 'turn.done');
  turnIds.push(done?.event.payload['turnId']);
  expect(new Set(turnIds).size).toBe(1);
  expect(last.session.recap(3)).toMatchObject([
    { turnId: turnIds[0], outcome: 'completed', recap: 'Done.', fullText: 'Done.' },
  ]);
});

test('an input stays what an earlier process saw it to be, whatever equal texts come', async () => {
  agent.dispatch(['a', 'the same']);
  agent.consumes('t1', ['r1', 'the same']);
  {
    await using _ = await agent.live();
  }
  // Dispatched before the record was read again: r1 is older news, and b's own entry is r2.
  agent.dispatch(['b', 'the same']);
  agent.ends('t1', ['r1'], 'First.');
  {
    await using _ = await agent.live();
  }
  agent.consumes('t2', ['r2', 'the same']);
  agent.ends('t2', ['r2'], 'Second.');
  await using life = await agent.live();
  const members = resultsIn(life.store.results('voice')).map(({ correlation, fullText }) => {
    return `${correlation.inputs.map(({ idempotencyKey }) => idempotencyKey).join('+')}: ${fullText}`;
  });
  // Which of the two equal texts r2 is, is known: r1 was seen to be a before b was there.
  expect(members).toEqual(['a: First.', 'b: Second.']);
});

test('equal texts on their way at one time are not guessed by the next process', async () => {
  agent.dispatch(['a', 'the same'], ['b', 'the same']);
  agent.consumes('t1', ['r1', 'the same']);
  agent.ends('t1', ['r1'], 'First.');
  agent.consumes('t2', ['r2', 'the same']);
  agent.ends('t2', ['r2'], 'Second.');
  await using life = await agent.live();
  expect(life.store.results('voice')).toEqual([]);
  for (const key of ['a', 'b']) {
    expect(life.store.getReceipt('voice', key)?.error?.code).toBe('RESULT_EVIDENCE_MISSING');
  }
});

test('two owners: the result is withheld whole, and both are told of their completion alone', async () => {
  agent.dispatch(['a', 'first'], ['b', 'second', 'other']);
  agent.consumes('t1', ['r1', 'first'], ['r2', 'second']);
  agent.ends('t1', ['r1', 'r2'], 'Both.');
  {
    await using life = await agent.live();
    expect(resultsIn(life.told)).toEqual([]);
    expect([...life.store.results('voice'), ...life.store.results('other')]).toEqual([]);
  }
  expect(await statesOf()).toEqual({ a: 'completed', b: 'completed' });
});

test('members of two instances: no payload could be true for both', async () => {
  agent.dispatch(['a', 'first']);
  agent.dispatch(['b', 'second']);
  agent.consumes('t1', ['r1', 'first'], ['r2', 'second']);
  agent.ends('t1', ['r1', 'r2'], 'Both.');
  {
    await using life = await agent.live();
    expect(resultsIn(life.told)).toEqual([]);
  }
  expect(await statesOf()).toEqual({ a: 'completed', b: 'completed' });
});

test.each([
  [maxTurnResultMembers, 1],
  [maxTurnResultMembers + 1, 0],
])('a turn that took %i inputs completes them all and makes %i results', async (count, results) => {
  const inputs = Array.from(
    { length: count },
    (_, index) => [`k${index}`, `text ${index}`] as const,
  );
  const refs = inputs.map(([key]) => `r-${key}`);
  agent.dispatch(...inputs);
  agent.consumes('t1', ...inputs.map(([key, text]) => [`r-${key}`, text] as const));
  agent.ends('t1', refs, 'All of them.');
  await using life = await agent.live();
  const told = resultsIn(life.told);
  expect(told).toHaveLength(results);
  for (const { correlation } of told) {
    expect(correlation.inputs.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      inputs.map(([key]) => key),
    );
  }
  const states = inputs.map(([key]) => life.store.getReceipt('voice', key)?.state);
  expect(new Set(states)).toEqual(new Set(['completed']));
});

test('an answer that is too large is withheld, and its receipts say that it is missing', async () => {
  agent.dispatch(['a', 'first']);
  agent.consumes('t1', ['r1', 'first']);
  agent.ends('t1', ['r1'], 'x'.repeat(maxTurnResultBytes));
  {
    await using life = await agent.live();
    expect(life.store.results('voice')).toEqual([]);
    expect(life.told.some(({ event }) => event.kind === 'turn.done')).toBe(true);
  }
  expect(await statesOf()).toEqual({ a: 'RESULT_EVIDENCE_MISSING' });
});

test.each([
  ['failed', 'RESULT_NOT_COMPLETED'],
  ['cancelled', 'TURN_INTERRUPTED'],
] as const)(
  'a turn that was %s is a result of that outcome, and no completion',
  async (outcome, code) => {
    agent.dispatch(['a', 'first']);
    agent.consumes('t1', ['r1', 'first']);
    agent.ends('t1', ['r1'], 'So far.', outcome);
    {
      await using life = await agent.live();
      expect(resultsIn(life.told)).toMatchObject([{ outcome, fullText: 'So far.' }]);
    }
    expect(await statesOf()).toEqual({ a: code });
  },
);

test("a person's turn makes no result", async () => {
  agent.dispatch(['a', 'first']);
  agent.consumes('t1', ['r1', 'of a person']);
  agent.ends('t1', ['r1'], 'To the person.');
  await using life = await agent.live();
  expect(resultsIn(life.told)).toEqual([]);
  expect(life.store.getReceipt('voice', 'a')?.state).toBe('unknown');
  expect(life.told.map(({ event }) => event.agentId)).toContain(agentId);
});
