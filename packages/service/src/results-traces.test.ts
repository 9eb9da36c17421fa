import { MemoryInboxStorage, ResultInbox, type Utterance } from '@ostler/client';
import { damage, type Random, randomFrom } from '@ostler/lab';
import type { OstlerEvent, Receipt, TurnResult } from '@ostler/protocol';
import type { StoredEvent } from '@ostler/store';
import { expect, test } from 'vitest';
import { agentId, RecordedAgent, resultsIn } from './testing/recorded-agent.js';
import {
  following,
  type TracedEngine,
  type TracedInput,
  type TracedTurn,
  tracedRecord,
  writeLines,
} from './testing/traced-record.js';

const tracesCount = 500;
const batchCount = 20;
const devices = ['voice', 'other'] as const;

/** An input that a device sent: the key says which one it is. */
interface Asked {
  readonly key: string;
  readonly device: (typeof devices)[number];
  readonly input: TracedInput;
  readonly turn: TracedTurn;
}

interface Tally {
  results: number;
  members: number;
  spoken: number;
}

test.each<TracedEngine>(['claude', 'codex'])(
  `${tracesCount} damaged records of %s, through the service into the receiver: never a wrong member, never said twice`,
  async (engine) => {
    const tally: Tally = { results: 0, members: 0, spoken: 0 };
    for (let first = 1; first <= tracesCount; first += batchCount)
      await batch(engine, first, tally);
    expect(tally.results).toBeGreaterThan(tracesCount / 4);
    expect(tally.members).toBeGreaterThan(tally.results);
    expect(tally.spoken).toBeGreaterThan(tracesCount / 4);
  },
  120_000,
);

/** One agent whose record holds many traces, one behind the other; two processes read it. */
async function batch(engine: TracedEngine, first: number, tally: Tally): Promise<void> {
  const random = randomFrom(first);
  using agent = new RecordedAgent(following(engine));
  const asked = new Map<string, Asked>();
  const lines: object[] = [];
  for (let seed = first; seed < first + batchCount; seed += 1) {
    const record = tracedRecord(engine, seed, randomFrom(seed));
    for (const one of askedIn(record.turns, random)) asked.set(one.key, one);
    lines.push(...damage(record.lines, randomFrom(seed)));
  }
  agent.dispatch(
    ...[...asked.values()].map(({ device, input, key }) => [key, input.text, device] as const),
  );
  writeLines(agent.sessionDir, lines, random.chance(0.5));
  const told: StoredEvent[] = [];
  for (let life = 0; life < 2; life += 1) {
    await using process = await agent.live();
    told.push(...process.told.filter(({ event }) => event.kind === 'turn.result'));
    for (const device of devices) told.push(...process.store.results(device));
  }
  const where = `${engine}, traces from ${first}`;
  using store = agent.openStore();
  const receiptOf = ({ device, key }: Asked): Receipt | null => store.getReceipt(device, key);
  const results = new Map<string, TurnResult>();
  const resultOf = new Map<string, string>();
  for (const { deviceId, event } of told) {
    const [result] = resultsIn([{ deviceId, event }]);
    if (!result) throw new Error('no result');
    expect(result, where).toEqual(results.get(result.resultId) ?? result);
    results.set(result.resultId, result);
    const members = result.correlation.inputs.map(({ deliveryId, idempotencyKey }) => {
      const member = asked.get(idempotencyKey);
      if (!member) throw new Error(`${where}: ${idempotencyKey} was never asked`);
      expect(member.device, `${where}: ${idempotencyKey}`).toBe(deviceId);
      expect(receiptOf(member)?.deliveryId, `${where}: ${idempotencyKey}`).toBe(deliveryId);
      expect(resultOf.get(idempotencyKey) ?? result.resultId, `${where}: ${idempotencyKey}`).toBe(
        result.resultId,
      );
      resultOf.set(idempotencyKey, result.resultId);
      return member;
    });
    const [turn] = members.map((member) => member.turn);
    for (const member of members) {
      const { key } = member;
      expect(member.turn, `${where}: ${key} beside ${members[0]?.key}`).toBe(turn);
      expect(result.outcome, `${where}: ${key}`).toBe(turn?.outcome);
      const completed = receiptOf(member)?.state === 'completed';
      expect(completed, `${where}: ${key}`).toBe(result.outcome === 'completed');
    }
    if (result.outcome === 'completed') expect(result.fullText, where).toBe(turn?.answer);
  }
  tally.results += results.size;
  tally.members += resultOf.size;
  for (const device of devices) {
    const own = [...asked.values()].filter((one) => one.device === device);
    const events = told.filter(({ deviceId }) => deviceId === device).map(({ event }) => event);
    const receipts = own.flatMap((one) => receiptOf(one) ?? []);
    const spoken = await heard(receipts, events, random);
    const ids = spoken.map(({ resultId }) => resultId);
    expect(new Set(ids).size, where).toBe(ids.length);
    for (const { fullText, resultId } of spoken) {
      expect(fullText, where).toBe(results.get(resultId)?.fullText);
    }
    // Everything that was answered is said: nothing is lost on the way either.
    expect(new Set(ids), where).toEqual(new Set(events.map(({ payload }) => resultIdIn(payload))));
    tally.spoken += ids.length;
  }
}

/** Most traces are one device's, some inputs a person's, and some turns of both devices. */
function askedIn(turns: readonly TracedTurn[], random: Random): readonly Asked[] {
  const isMixed = random.chance(0.2);
  return turns.flatMap((turn) =>
    turn.inputs.flatMap((input): readonly Asked[] => {
      // A person's text that equals one of ours can't be told from it by anyone.
      if (input.text !== 'same' && random.chance(0.1)) return [];
      const device = isMixed && random.chance(0.5) ? 'other' : 'voice';
      return [{ key: input.ref.replaceAll('.', '-'), device, input, turn }];
    }),
  );
}

/** What a device says of its results when they come doubled and in any order. */
async function heard(
  receipts: readonly Receipt[],
  events: readonly OstlerEvent[],
  random: Random,
): Promise<readonly Utterance[]> {
  const inbox = await ResultInbox.open({ storage: new MemoryInboxStorage() });
  for (const receipt of receipts) {
    const { idempotencyKey, machineId } = receipt;
    await inbox.expect({ idempotencyKey, machineId, agentId });
    await inbox.receipt(receipt);
  }
  const spoken: Utterance[] = [];
  const speak = async (): Promise<boolean> => {
    const { kind } = await inbox.speakNext((utterance) => {
      spoken.push(utterance);
      return Promise.resolve();
    });
    return kind !== 'nothing_queued';
  };
  const coming = [...events, ...events.filter(() => random.chance(0.3))];
  while (coming.length > 0) {
    const [event] = coming.splice(random.below(coming.length), 1);
    if (event) await inbox.event(event);
    if (random.chance(0.5)) await speak();
  }
  while (await speak());
  return spoken;
}

const resultIdIn = (payload: object): string => (payload as TurnResult).resultId;
