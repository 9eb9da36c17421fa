import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ModelScript,
  type PinnedEngine,
  prepareRealEngine,
  type RealEngineOptions,
} from '@ostler/lab';
import type { TurnResult } from '@ostler/protocol';
import { type Agent } from 'ostler';
import { describe, expect, test } from 'vitest';
import { reasonToSkip } from './deliveries.js';
import { enginesDir, LiveWorld } from './live-world.js';

const pins: readonly PinnedEngine[] = [
  { engine: 'claude', version: '2.1.328' },
  { engine: 'claude', version: '2.1.280' },
  { engine: 'codex', version: '0.169.0' },
  { engine: 'codex', version: '0.156.1' },
];

const gated = (name: string): string =>
  `touch ${name}-on; while [ ! -e ${name}-off ]; do sleep 0.05; done`;

const script: ModelScript = {
  rules: [
    {
      when: { equals: 'tool' },
      steps: [
        { do: 'shell', command: gated('tool') },
        { do: 'say', text: 'The tool has ended.' },
      ],
    },
    {
      when: { equals: 'tool, then think' },
      steps: [
        { do: 'shell', command: gated('first') },
        { do: 'hold', name: 'behind' },
        { do: 'say', text: 'The tool has ended.' },
      ],
    },
    {
      when: { equals: 'think' },
      steps: [
        { do: 'hold', name: 'think' },
        { do: 'say', text: 'Thought.' },
      ],
    },
    { when: { equals: 'fail' }, steps: [{ do: 'fail', status: 400, message: 'no such thing' }] },
  ],
  otherwise: [{ do: 'say', text: 'Done.' }],
};

/** One engine, and every result it was told of. */
class ResultWorld implements AsyncDisposable {
  readonly world: LiveWorld;
  readonly results: TurnResult[] = [];
  /** What each receipt said when a result was told. */
  readonly #states: Map<string, string>[] = [];
  agent: Agent;

  private constructor(world: LiveWorld) {
    this.world = world;
    this.agent = world.agent;
    world.ostler.on('turn.result', ({ agentId: _, ...result }) => {
      this.results.push(result);
      this.#states.push(new Map(world.tally.keys().map((key) => [key, world.receipt(key).state])));
    });
  }

  static async open(pin: PinnedEngine, engine: RealEngineOptions = {}): Promise<ResultWorld> {
    const options = { permissions: 'free', ...engine } as const;
    return new ResultWorld(await LiveWorld.open(pin, { script, engine: options }));
  }

  /** The results' members, each group in one line. */
  get members(): readonly string[] {
    return this.results.map(({ correlation: { inputs } }) =>
      inputs.map(({ idempotencyKey }) => idempotencyKey).join('+'),
    );
  }

  /** What the receipt of `key` said when result number `index` was told. */
  stateAt(index: number, key: string): string | undefined {
    return this.#states[index]?.get(key);
  }

  async send(text: string): Promise<string> {
    const idempotencyKey = this.world.tally.sent(text);
    await this.world.ostler.turnSend({ agentId: this.agent.agentId, idempotencyKey, text });
    return idempotencyKey;
  }

  async settle(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.world.wait(key, 'settled');
  }

  async toolRuns(name: string): Promise<void> {
    const on = join(this.world.sandbox.workDir, `${name}-on`);
    await this.world.until(`the tool ${name}`, () => existsSync(on));
  }

  endTool(name: string): void {
    writeFileSync(join(this.world.sandbox.workDir, `${name}-off`), '');
  }

  /** A person types a command of the engine's own. */
  async command(text: string): Promise<void> {
    await this.world.untilIdle();
    this.agent.personInput(text);
    await this.world.until(`the draft ${text}`, async () => {
      const { reading } = await this.agent.screen();
      return reading.composer?.draft.trim() === text;
    });
    await this.world.press('\r', async () => {
      const { reading } = await this.agent.screen();
      return reading.composer?.draft.trim() !== text;
    });
    await this.world.untilIdle();
  }

  /** Ends the agent and starts another one that goes on with its conversation. */
  async resume(pin: PinnedEngine): Promise<void> {
    await this.agent.close();
    const { sandbox, model, ostler } = this.world;
    const extraArgs = pin.engine === 'claude' ? ['--continue'] : ['resume', '--last'];
    const launch = prepareRealEngine({
      ...pin,
      enginesDir,
      homeDir: sandbox.homeDir,
      workDir: sandbox.workDir,
      modelUrl: model.url,
      options: { permissions: 'free', extraArgs },
    });
    this.agent = await ostler.launch({ engine: pin.engine, ...launch, cleanEnv: true, rows: 32 });
  }

  /** Everything the engine has written to its records. */
  record(): string {
    const { homeDir } = this.world.sandbox;
    return readdirSync(homeDir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => readFileSync(join(homeDir, name), 'utf8'))
      .join('');
  }

  expectTruth(): void {
    for (const result of this.results) {
      for (const { deliveryId, idempotencyKey } of result.correlation.inputs) {
        const receipt = this.world.receipt(idempotencyKey);
        expect(receipt.deliveryId).toBe(deliveryId);
        expect(receipt.state === 'completed').toBe(result.outcome === 'completed');
        expect(receipt.serverInstanceId).toBe(result.serverInstanceId);
      }
    }
    const ids = this.results.map(({ resultId }) => resultId);
    expect(new Set(ids).size).toBe(ids.length);
    const answered = this.members.flatMap((group) => group.split('+'));
    expect(new Set(answered).size).toBe(answered.length);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]();
  }
}

for (const pin of pins) {
  const skip = reasonToSkip(pin);
  const isClaude = pin.engine === 'claude';
  const title = `results of ${pin.engine} ${pin.version}${skip === null ? '' : ` (skipped: ${skip})`}`;
  describe.skipIf(skip !== null)(title, () => {
    test('one request, one answer', async () => {
      await using at = await ResultWorld.open(pin);
      const a = await at.send('hello');
      await at.settle(a);
      expect(at.members).toEqual([a]);
      expect(at.results[0]).toMatchObject({ outcome: 'completed', fullText: 'Done.' });
      expect(at.results[0]?.correlation.scope).toBe('input');
      at.expectTruth();
    });

    test('what is taken during a tool is answered together, equal texts too', async () => {
      await using at = await ResultWorld.open(pin);
      const a = await at.send('tool');
      await at.toolRuns('tool');
      const others = [await at.send('and this'), await at.send('twice'), await at.send('twice')];
      for (const key of others) await at.world.wait(key, 'accepted');
      at.endTool('tool');
      await at.settle(a, ...others);
      expect(at.members).toEqual([[a, ...others].join('+')]);
      expect(at.results[0]?.correlation.scope).toBe('group');
      at.expectTruth();
    });

    test('what comes while the model thinks', async () => {
      await using at = await ResultWorld.open(pin);
      const a = await at.send('think');
      await at.world.model.reached('think');
      const b = await at.send('one more');
      await at.world.wait(b, 'accepted');
      const c = await at.send('another one');
      await at.world.wait(c, 'accepted');
      at.world.model.release('think');
      await at.settle(a, b, c);
      // Claude takes its queue behind the turn, in one more or in two, Codex into it.
      expect(at.members.join('+')).toBe([a, b, c].join('+'));
      expect(at.members[0]).toBe(isClaude ? a : [a, b, c].join('+'));
      if (isClaude) expect(at.stateAt(0, b)).not.toBe('completed');
      at.expectTruth();
    });

    test.runIf(isClaude)('what still waits in the queue is no member', async () => {
      await using at = await ResultWorld.open(pin);
      const a = await at.send('tool, then think');
      await at.toolRuns('first');
      const b = await at.send('during the tool');
      await at.world.wait(b, 'accepted');
      at.endTool('first');
      await at.world.wait(b, 'started');
      await at.world.model.reached('behind');
      const c = await at.send('behind the tool');
      await at.world.wait(c, 'accepted');
      at.world.model.release('behind');
      await at.settle(a, b, c);
      expect(at.members).toEqual([`${a}+${b}`, c]);
      expect(at.stateAt(0, c)).toMatch(/^(delivered|started)$/);
      at.expectTruth();
    });

    test('Esc with a queue: the first is interrupted, the second answered by itself', async () => {
      await using at = await ResultWorld.open(pin);
      const a = await at.send(isClaude ? 'think' : 'tool');
      if (isClaude) await at.world.model.reached('think');
      else await at.toolRuns('tool');
      const b = await at.send('in the queue');
      await at.world.wait(b, 'accepted');
      await at.world.press('\u001b', () => at.world.receipt(a).state === 'unknown');
      at.world.model.release('think');
      at.endTool('tool');
      await at.settle(b);
      expect(at.world.receipt(a)).toMatchObject({
        state: 'unknown',
        error: { code: 'TURN_INTERRUPTED' },
      });
      expect(at.world.receipt(b).state).toBe('completed');
      expect(at.members.at(-1)).toBe(b);
      expect(at.members.slice(0, -1)).not.toContain(b);
      at.expectTruth();
    });

    test('a turn that fails is no completion', async () => {
      await using at = await ResultWorld.open(pin);
      const a = await at.send('fail');
      await at.settle(a);
      expect(at.world.receipt(a)).toMatchObject({
        state: 'unknown',
        error: { code: 'RESULT_NOT_COMPLETED' },
      });
      expect(at.results).toMatchObject([{ outcome: 'failed' }]);
      expect(at.results[0]?.fullText).toContain('no such thing');
      at.expectTruth();
    });

    test('/clear, compaction and resume in between', async () => {
      await using at = await ResultWorld.open(pin);
      const keys = [await at.send('before')];
      await at.settle(...keys);
      for (const command of ['/clear', '/compact']) {
        await at.command(command);
        keys.push(await at.send(`behind ${command.slice(1)}`));
        await at.settle(...keys);
        if (command === '/clear') {
          keys.push(await at.send('something to compact'));
          await at.settle(...keys);
        }
      }
      expect(at.record()).toContain(isClaude ? '"compact_boundary"' : '"compacted"');
      await at.resume(pin);
      keys.push(await at.send('behind the resume'));
      await at.settle(...keys);
      expect(keys.map((key) => at.world.receipt(key).state)).toEqual(keys.map(() => 'completed'));
      expect(at.members).toEqual(keys);
      at.expectTruth();
    });
  });
}
