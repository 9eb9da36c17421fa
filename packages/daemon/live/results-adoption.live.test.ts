import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  defaultRoomDir,
  isOffline,
  type ModelScript,
  type ModelServer,
  nativeExecutable,
  openSandbox,
  type PinnedEngine,
  prepareRealEngine,
  type Sandbox,
  startModelServer,
} from '@ostler/lab';
import { type Receipt, type TurnResult, turnResultSchema } from '@ostler/protocol';
import { Disposables, systemClock } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { DaemonProcess } from '../src/testing/daemon-process.js';
import { randomSeed } from '../src/testing/kill-run.js';
import { RawClient } from '../src/testing/raw-client.js';
import { VoiceDevice } from './voice-device.js';

const kills = Number(process.env['OSTLER_RESULT_KILLS'] ?? 6);
const roomDir = defaultRoomDir();
const enginesDir = join(roomDir, '..', '..', '.engines');
const patienceMs = 30_000;
const pins: readonly PinnedEngine[] = [
  { engine: 'claude', version: '2.1.328' },
  { engine: 'codex', version: '0.169.0' },
];

/** Several paragraphs, of letters of one to four bytes. */
const longAnswer = Array.from(
  { length: 60 },
  (_, line) => `${line}. Größe, 大きさ, 🙂: the tests pass, and nothing else was changed.`,
).join('\n\n');

const script: ModelScript = {
  rules: [
    {
      when: { equals: 'tool' },
      steps: [
        { do: 'shell', command: 'touch tool-on; while [ ! -e tool-off ]; do sleep 0.05; done' },
        { do: 'hold', name: 'behind' },
        { do: 'say', text: longAnswer },
      ],
    },
  ],
  otherwise: [{ do: 'say', text: '\n\nAnd that too.' }],
};
const wholeAnswer = `${longAnswer}\n\nAnd that too.`;

const answerTo = (text: string): string => `The answer to ${text}, whole.`;

/** Each round's first input is answered when it is let, the others at once. */
const roundScript = (rounds: number): ModelScript => ({
  rules: Array.from({ length: rounds }, (_, round) => [
    {
      when: { equals: `first of ${round}` },
      steps: [
        { do: 'hold', name: `round ${round}` } as const,
        { do: 'say', text: answerTo(`first of ${round}`) } as const,
      ],
    },
    {
      when: { equals: `second of ${round}` },
      steps: [{ do: 'say', text: answerTo(`second of ${round}`) } as const],
    },
  ]).flat(),
});

const pauseMs = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.setTimer(ms, resolve));

async function until(what: string, holds: () => boolean, lookEveryMs = 10): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + patienceMs;
  while (!holds()) {
    if (systemClock.monotonicMs() > deadlineMs) {
      throw new Error(`${what} did not come true within ${patienceMs} ms`);
    }
    await pauseMs(lookEveryMs);
  }
}

/** One real engine behind a daemon that is killed, a device with its inbox, and another device. */
class AdoptionWorld implements AsyncDisposable {
  readonly model: ModelServer;
  readonly device: VoiceDevice;
  readonly agentId: string;
  readonly isClaude: boolean;
  readonly sent = new Map<string, string>();
  /** The instance of the server each key was sent to. */
  readonly #born = new Map<string, string>();
  readonly #pin: PinnedEngine;
  readonly #owned: Disposables;
  readonly #room: Sandbox;
  readonly #stateDir: string;
  readonly #otherToken: string;
  #daemon: DaemonProcess;
  #other: RawClient;
  /** Frames of the other device that tell of what is not its own. */
  readonly leaks: string[] = [];

  private constructor(parts: {
    readonly pin: PinnedEngine;
    readonly owned: Disposables;
    readonly room: Sandbox;
    readonly stateDir: string;
    readonly daemon: DaemonProcess;
    readonly model: ModelServer;
    readonly device: VoiceDevice;
    readonly other: RawClient;
    readonly otherToken: string;
    readonly agentId: string;
  }) {
    this.#pin = parts.pin;
    this.isClaude = parts.pin.engine === 'claude';
    this.#owned = parts.owned;
    this.#room = parts.room;
    this.#stateDir = parts.stateDir;
    this.#daemon = parts.daemon;
    this.model = parts.model;
    this.device = parts.device;
    this.#other = parts.other;
    this.#otherToken = parts.otherToken;
    this.agentId = parts.agentId;
    this.#watchOther();
  }

  static async open(pin: PinnedEngine, modelScript: ModelScript): Promise<AdoptionWorld> {
    const owned = new Disposables();
    try {
      const room = owned.own(openSandbox({ roomDir, name: `adopt-${pin.engine}` }));
      const stateDir = join(room.dir, 'state');
      const model = owned.own(await startModelServer({ script: modelScript }));
      const daemon = await DaemonProcess.start(stateDir);
      owned.defer(() => daemon.kill());
      using local = await RawClient.local(daemon.socketPath);
      const { homeDir, workDir } = room;
      const { args, command, cwd, env } = prepareRealEngine({
        ...pin,
        ...{ enginesDir, homeDir, workDir, modelUrl: model.url },
        options: { permissions: 'free' },
      });
      const launch = { name: pin.engine, engine: pin.engine, command, args, cwd, env };
      const launched = await local.call('agent.launch', { ...launch, cleanEnv: true });
      if (launched['error']) throw new Error(JSON.stringify(launched['error']));
      const tokens: string[] = [];
      for (const name of ['voice', 'other']) {
        tokens.push(String((await local.call('device.add', { name }))['token']));
      }
      const [token = '', otherToken = ''] = tokens;
      const inboxPath = join(room.dir, 'inbox.sqlite');
      const device = owned.own(await VoiceDevice.open({ stateDir, token, inboxPath }));
      const other = await RawClient.local(daemon.socketPath, otherHello(otherToken));
      const agentId = String(launched['agentId']);
      const parts = { pin, owned, room, stateDir, daemon, model, device, other, otherToken };
      return new AdoptionWorld({ ...parts, agentId });
    } catch (failure) {
      await owned[Symbol.asyncDispose]();
      throw failure;
    }
  }

  async send(key: string, text: string, wanted: 'accepted' | 'started'): Promise<Receipt> {
    const { agentId } = this;
    this.sent.set(key, text);
    const { receipt } = await this.device.follower.send({ agentId, idempotencyKey: key, text });
    this.#born.set(key, receipt.serverInstanceId);
    return await this.wait(key, wanted);
  }

  async wait(key: string, wanted: 'accepted' | 'started' | 'settled'): Promise<Receipt> {
    const wait = { idempotencyKey: key, until: wanted, timeoutMs: patienceMs / 2 };
    const { receipt, waitEnded } = await this.device.client.receipt.wait(wait);
    if (waitEnded !== 'reached') throw new Error(`${key}: ${JSON.stringify(receipt)}`);
    return receipt;
  }

  async kill(): Promise<void> {
    await this.#daemon.kill();
    this.#other[Symbol.dispose]();
  }

  /** A new daemon on the same directory. */
  async serve(): Promise<void> {
    this.#daemon = await DaemonProcess.start(this.#stateDir);
    const daemon = this.#daemon;
    this.#owned.defer(() => daemon.kill());
    this.#other = await RawClient.local(daemon.socketPath, otherHello(this.#otherToken));
    this.#watchOther();
  }

  /** Ends in the engine's record that carry one of these words. */
  endsWith(text: string): boolean {
    const marks = JSON.stringify(text).slice(1, -1);
    return this.#record().some(
      (line) =>
        line.includes(marks) && line.includes(this.isClaude ? '"end_turn"' : '"task_complete"'),
    );
  }

  /**
   * What Codex wrote as a turn's last message. It holds the answer to the first input too where
   * the second was taken before that was said: the engine asks its model again with both.
   */
  lastMessageWith(input: string): string {
    const ends = this.#record().flatMap((line) => {
      const { payload } = JSON.parse(line) as { readonly payload?: Record<string, unknown> };
      return payload?.['type'] === 'task_complete' ? [String(payload['last_agent_message'])] : [];
    });
    const [text, ...more] = ends.filter((end) => end.endsWith(answerTo(input)));
    if (text === undefined || more.length > 0) throw new Error(`no one end says ${input}`);
    return text;
  }

  toolRuns(): Promise<void> {
    return until('the tool', () => existsSync(join(this.#room.workDir, 'tool-on')));
  }

  endTool(): void {
    writeFileSync(join(this.#room.workDir, 'tool-off'), '');
  }

  /** Each stored result once, its members in one line. */
  get answered(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.device.arrivals.map(({ result: { correlation, fullText } }) => [
        correlation.inputs.map(({ idempotencyKey }) => idempotencyKey).join('+'),
        fullText,
      ]),
    );
  }

  /** What holds of every result, whatever was killed. */
  async expectTruth(): Promise<void> {
    await this.device.settled();
    const receipts = await this.device.client.receipt.list({ state: 'all' });
    const receiptOf = (key: string): Receipt | undefined =>
      receipts.find(({ idempotencyKey }) => idempotencyKey === key);
    const first = new Map<string, TurnResult>();
    const keyed = new Map<string, string>();
    for (const { result } of this.device.arrivals) {
      expect(turnResultSchema.parse(result)).toEqual(result);
      expect(result).toEqual(first.get(result.resultId) ?? result);
      first.set(result.resultId, result);
      for (const { deliveryId, idempotencyKey } of result.correlation.inputs) {
        expect(keyed.get(idempotencyKey) ?? result.resultId).toBe(result.resultId);
        keyed.set(idempotencyKey, result.resultId);
        expect(receiptOf(idempotencyKey)).toMatchObject({ deliveryId, state: 'completed' });
        expect(result.serverInstanceId).toBe(this.#born.get(idempotencyKey));
      }
    }
    for (const [key, text] of this.sent) {
      expect(receiptOf(key)?.state, key).toBe('completed');
      expect(keyed.has(key), `${key} has a result`).toBe(true);
      expect(this.model.countOf(text), key).toBe(1);
    }
    const said = this.device.spoken.map(({ resultId }) => resultId);
    expect(said.toSorted()).toEqual([...first.keys()].toSorted());
    expect(await this.device.unsaid()).toEqual([]);
    expect(await this.device.openKeys()).toEqual([]);
    expect(this.device.faults).toEqual([]);
    expect(this.leaks).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using local = await RawClient.local(this.#daemon.socketPath);
    const { machineId } = await local.call('agents.list');
    await local.call('agent.close', { machineId, agentId: this.agentId });
    this.#other[Symbol.dispose]();
    await this.#owned[Symbol.asyncDispose]();
  }

  #watchOther(): void {
    const look = (frame: object & { readonly kind?: unknown }): void => {
      const isOwn = frame.kind === 'turn.result' || frame.kind === 'receipt.updated';
      if (isOwn) this.leaks.push(JSON.stringify(frame));
    };
    this.#other.frames.forEach(look);
    this.#other.onFrame(look);
  }

  #record(): readonly string[] {
    const { homeDir } = this.#room;
    return readdirSync(homeDir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(join(homeDir, name), 'utf8').split('\n').slice(0, -1));
  }
}

const otherHello = (token: string): object => ({
  token,
  capabilities: ['input.status.v1', 'turn.correlation.v2'],
  resume: { serverInstanceId: 'none', cursor: 0 },
});

function reasonToSkip(pin: PinnedEngine): string | null {
  if (!isOffline()) return 'this process has a network; run it through tools/offline.mjs';
  try {
    nativeExecutable(enginesDir, pin);
    return null;
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure);
  }
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

for (const pin of pins) {
  const skip = reasonToSkip(pin);
  const title = `results of ${pin.engine} ${pin.version} whose daemon is killed${skip === null ? '' : ` (skipped: ${skip})`}`;
  describe.skipIf(skip !== null)(title, () => {
    test('a turn that ended while no daemon lived is answered by the next, once', async () => {
      await using at = await AdoptionWorld.open(pin, script);
      await at.send('a', 'tool', 'started');
      await at.toolRuns();
      await at.send('b', 'and this', 'accepted');
      await at.kill();
      at.endTool();
      await at.model.reached('behind');
      at.model.release('behind');
      await until('the end in the record', () => at.endsWith(wholeAnswer));
      expect(at.device.arrivals).toEqual([]);
      await at.serve();
      await at.wait('a', 'settled');
      await at.wait('b', 'settled');
      await until('the result', () => at.device.arrivals.length > 0);
      await at.expectTruth();
      expect(at.answered).toEqual({ 'a+b': wholeAnswer });
      expect(at.device.arrivals).toHaveLength(1);
      expect(at.device.arrivals[0]?.instance).toBe(at.device.client.serverInstanceId);
      expect(at.device.spoken.map(({ fullText }) => fullText)).toEqual([wholeAnswer]);
      // A process of the device that has lost its place is sent it again, and says nothing.
      await at.device.stop();
      await at.device.start('all');
      await until('the result once more', () => at.device.arrivals.length > 1);
      await at.expectTruth();
      expect(at.device.spoken).toHaveLength(1);
    });

    test(`${kills} kills around the end of a turn`, {
      timeout: 60_000 + kills * 10_000,
    }, async () => {
      const seed = randomSeed();
      const random = randomOf(seed);
      const tally = { toldBefore: 0, committedBefore: 0, behind: 0, resyncs: 0 };
      await using at = await AdoptionWorld.open(pin, roundScript(kills));
      const expected: Record<string, string> = {};
      for (let round = 0; round < kills; round += 1) {
        const [first, second] = [`first of ${round}`, `second of ${round}`];
        const isAway = round % 3 === 2;
        await at.send(`${round}a`, first, 'started');
        await at.model.reached(`round ${round}`);
        const isTwo = random() < 0.5;
        if (isTwo) await at.send(`${round}b`, second, 'accepted');
        const { serverInstanceId } = at.device.client;
        if (isAway) await at.device.stop();
        at.model.release(`round ${round}`);
        // Either at the very moment the record says the end, or anywhere around it.
        const last = isTwo && !at.isClaude ? second : first;
        if (random() < 0.5) {
          await until('the end', () => at.endsWith(answerTo(last)), 1);
          await pauseMs(random() * 8);
        } else await pauseMs(random() * 400);
        const before = at.device.arrivals.length;
        await at.kill();
        await at.serve();
        if (isAway) await at.device.start();
        for (const key of isTwo ? [`${round}a`, `${round}b`] : [`${round}a`]) {
          const receipt = await at.wait(key, 'settled');
          expect({ seed, key, state: receipt.state }).toEqual({ seed, key, state: 'completed' });
        }
        if (isTwo && !at.isClaude) expected[`${round}a+${round}b`] = at.lastMessageWith(second);
        else {
          expected[`${round}a`] = answerTo(first);
          if (isTwo) expected[`${round}b`] = answerTo(second);
        }
        const wanted = Object.keys(expected).length;
        await until('the results', () => Object.keys(at.answered).length >= wanted);
        expect({ seed, answered: at.answered }).toEqual({ seed, answered: expected });
        const index = at.device.arrivals.findIndex(({ result }) =>
          result.correlation.inputs.some(({ idempotencyKey }) => idempotencyKey === `${round}a`),
        );
        if (index < before) tally.toldBefore += 1;
        else if (at.device.arrivals[index]?.instance === serverInstanceId) {
          tally.committedBefore += 1;
        } else tally.behind += 1;
        await at.expectTruth();
      }
      tally.resyncs = at.device.resyncs;
      process.stdout.write(`${pin.engine} results: ${JSON.stringify({ seed, kills, ...tally })}\n`);
    });
  });
}
