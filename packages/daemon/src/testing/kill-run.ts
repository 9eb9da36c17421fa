import { isSettled, type Receipt } from '@ostler/protocol';
import { randomIds, systemClock } from '@ostler/runtime';
import { DaemonProcess } from './daemon-process.js';
import { codeOf, type Frame, RawClient } from './raw-client.js';

/** An agent under traffic, and how often its model was given a text. */
export interface TargetAgent {
  readonly agentId: string;
  readonly name: string;
  /** How many copies of a text have reached the engine's own work; the truth that receipts are held against. */
  readonly received: (text: string) => number;
  /** Milliseconds between two sends to it. */
  readonly everyMs: number;
}

export interface KillRunOptions {
  readonly stateDir: string;
  readonly daemon: DaemonProcess;
  readonly agents: readonly TargetAgent[];
  readonly kills: number;
  /** The longest life of a daemon, from serving to its end. */
  readonly maxLifeMs: number;
  readonly seed: number;
  /** How long the last inputs may take to come to rest. */
  readonly restMs: number;
}

export interface KillReport {
  readonly kills: number;
  readonly sent: number;
  readonly retried: number;
  /** Of serving again after a kill. */
  readonly startMs: { readonly median: number; readonly max: number };
  readonly states: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

interface Sent {
  readonly key: string;
  readonly text: string;
  readonly agent: TargetAgent;
  /** The server has said that the key is taken. */
  taken: boolean;
  tries: number;
}

const pauseMs = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.setTimer(ms, resolve));

/**
 * Sends to every agent while the daemon is killed and started again; what got no answer is sent
 * again under its key. At the end each receipt is held against what the engine was given.
 */
export async function killRun(
  options: KillRunOptions,
): Promise<KillReport & { readonly daemon: DaemonProcess }> {
  const { agents, kills, maxLifeMs, restMs, stateDir } = options;
  const random = randomOf(options.seed);
  const sent: Sent[] = [];
  const startsMs: number[] = [];
  const faults: string[] = [];
  let daemon = options.daemon;
  let running = true;
  let retried = 0;

  // Settled receipts leave a full ledger early; what they said last is in the events.
  const told = new Map<string, Receipt>();
  const follow = async (): Promise<RawClient> => {
    const next = await RawClient.connect(daemon.socketPath);
    next.onFrame((frame) => {
      if (frame['kind'] !== 'receipt.updated') return;
      cursor = { serverInstanceId: frame['serverInstanceId'], cursor: frame['eventId'] };
      const { receipt } = frame['payload'] as { readonly receipt: Receipt };
      told.set(receipt.idempotencyKey, receipt);
    });
    await next.hello(cursor === null ? {} : { resume: cursor });
    machineId = String((await next.call('agents.list'))['machineId']);
    return next;
  };
  let cursor: object | null = null;
  let machineId = '';
  let client: RawClient | null = await follow();

  const offer = async (input: Sent): Promise<void> => {
    while (running && !input.taken) {
      const current = client;
      if (!current || current.ended) {
        await pauseMs(5);
        continue;
      }
      try {
        input.tries += 1;
        if (input.tries > 1) retried += 1;
        const { agentId } = input.agent;
        const answer = await current.call('turn.send', {
          ...{ machineId, agentId, text: input.text },
          idempotencyKey: input.key,
        });
        const code = codeOf(answer);
        if (code === null) input.taken = true;
        else if (code === 'BACKPRESSURE' || code === 'NO_AGENTS' || code === 'AGENT_NOT_FOUND') {
          if (code !== 'BACKPRESSURE') faults.push(`${input.key}: ${code}`);
          await pauseMs(20);
        } else {
          faults.push(`${input.key} was refused: ${code}`);
          return;
        }
      } catch {
        // The connection was lost: whether it was taken is what the retry finds out.
      }
    }
  };

  const traffic = agents.map(async (agent) => {
    for (let count = 1; running; count += 1) {
      const key = `${agent.name}-${count}`;
      const input: Sent = {
        key,
        text: `number ${count} for ${agent.name}`,
        agent,
        taken: false,
        tries: 0,
      };
      sent.push(input);
      await offer(input);
      await pauseMs(agent.everyMs * (0.5 + random()));
    }
  });

  for (let count = 0; count < kills; count += 1) {
    await pauseMs(5 + random() * maxLifeMs);
    await daemon.kill();
    client?.[Symbol.dispose]();
    client = null;
    daemon = await DaemonProcess.start(stateDir);
    startsMs.push(daemon.startMs);
    client = await follow();
  }
  // Whoever still tries gets an answer from the last one.
  await pauseMs(200);
  running = false;
  await Promise.all(traffic);

  const receipts = await atRest(client as RawClient, sent, restMs);
  const states: Record<string, number> = {};
  for (const input of sent) {
    if (!input.taken) continue;
    const receipt = receipts.get(input.key) ?? told.get(input.key);
    const count = input.agent.received(input.text);
    const state = receipt?.state ?? 'none';
    states[state] = (states[state] ?? 0) + 1;
    const fault = faultOf(receipt ?? null, count);
    if (fault) faults.push(`${input.key} ${fault}: ${JSON.stringify(receipt)}, received ${count}`);
  }
  client?.[Symbol.dispose]();
  return {
    kills,
    sent: sent.length,
    retried,
    startMs: { median: quantile(startsMs, 0.5), max: quantile(startsMs, 1) },
    states,
    faults,
    daemon,
  };
}

/** What a receipt may not say, given how often the engine was given the text. */
function faultOf(receipt: Receipt | null, received: number): string | null {
  if (received > 1) return 'was submitted more than once';
  if (!receipt) return 'has lost its key';
  if (receipt.state === 'rejected' && received > 0) return 'is rejected and was submitted';
  const claimed = receipt.state === 'started' || receipt.state === 'completed';
  if (claimed && received === 0) return 'is claimed and was never submitted';
  if (receipt.state === 'queued') return 'waits without an end';
  return null;
}

/** The receipts once none of them moves any more. */
async function atRest(
  client: RawClient,
  sent: readonly Sent[],
  restMs: number,
): Promise<Map<string, Receipt>> {
  const receipts = new Map<string, Receipt>();
  const untilMs = systemClock.monotonicMs() + restMs;
  for (;;) {
    for (const { key, taken } of sent) {
      const known = receipts.get(key);
      if (!taken || (known && isSettled(known.state))) continue;
      const answer: Frame = await client.call('receipt.get', { idempotencyKey: key });
      const receipt = answer['receipt'] as Receipt | null;
      if (receipt) receipts.set(key, receipt);
    }
    const open = [...receipts.values()].filter(
      ({ input, state }) =>
        state === 'queued' ||
        state === 'started' ||
        (state === 'delivered' && input?.phase === 'submitted'),
    );
    if (open.length === 0 || systemClock.monotonicMs() > untilMs) return receipts;
    await pauseMs(100);
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
}

/** mulberry32: a run is repeated by its seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const randomSeed = (): number => Number.parseInt(randomIds.uuid().slice(0, 8), 16);
