import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOffline, nativeExecutable, type PinnedEngine } from '@ostler/lab';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enginesDir, LiveWorld } from './live-world.js';
import { liveScript } from './script.js';
import { awkwardTexts, manyLines, type NamedText, oneLongLine } from './texts.js';

/** How often each kind of delivery is made. */
export interface Width {
  readonly idle: number;
  readonly bursts: number;
  readonly busy: number;
  readonly races: number;
}

export const wide: Width = { idle: 56, bursts: 8, busy: 8, races: 6 };
export const narrow: Width = { idle: 8, bursts: 1, busy: 2, races: 2 };

/** Why the pin can't be run here, or null. */
export function reasonToSkip(pin: PinnedEngine): string | null {
  if (!isOffline()) return 'this process has a network; run it through tools/offline.mjs';
  try {
    nativeExecutable(enginesDir, pin);
    return null;
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure);
  }
}

/** Deliveries into one long session that asks for nothing, counted by what the model received. */
export function deliveries(pin: PinnedEngine, width: Width): void {
  const skip = reasonToSkip(pin);
  const title = `${pin.engine} ${pin.version}${skip === null ? '' : ` (skipped: ${skip})`}`;
  describe.skipIf(skip !== null)(title, () => {
    let world: LiveWorld;

    beforeAll(async () => {
      world = await LiveWorld.open(pin, {
        script: liveScript(20),
        engine: { permissions: 'free' },
      });
    });

    afterAll(async () => {
      const account = world.tally.account(world.model, (key) => world.receipt(key));
      const { sent, received, refused, unknown } = account;
      process.stdout.write(
        `${pin.engine} ${pin.version}: ${sent} sent, ${received} received, ${refused} refused, ${unknown} unknown\n`,
      );
      await world[Symbol.asyncDispose]();
      expect(account.faults).toEqual([]);
    });

    /** A person clears what is left in doubt, so that the next text has its turn. */
    async function exactlyOrRefused(texts: readonly NamedText[]): Promise<void> {
      const doubtful: string[] = [];
      for (const { name, text } of texts) {
        const key = await world.send(text);
        const { error, state } = await world.settle(key);
        if (state === 'unknown') doubtful.push(`${name}: ${error?.code}`);
        await world.untilIdle();
      }
      expect(doubtful).toEqual([]);
    }

    test('an input sent before the engine is ready arrives once', async () => {
      const key = await world.send('sent at once after the launch');
      expect((await world.wait(key, 'settled')).state).toBe('completed');
    });

    test('idle sends, one after another', async () => {
      for (let round = 0; round < width.idle; round += 1) {
        const key = await world.send(`idle ${round}`);
        expect((await world.wait(key, 'settled')).state, `idle ${round}`).toBe('completed');
        expect(world.model.countOf(`idle ${round}`)).toBe(1);
      }
    });

    test('rapid A, B, C, D with two alike arrive in order, none merged', async () => {
      for (let round = 0; round < width.bursts; round += 1) {
        const texts = ['A', 'B', 'B', 'D'].map((letter) => `burst ${round} ${letter}`);
        const from = world.model.prompts().length;
        const keys = await Promise.all(texts.map((text) => world.send(text)));
        for (const key of keys) await world.wait(key, 'started');
        await world.until('the whole burst', () => world.model.prompts().length >= from + 4);
        const seen = world.model.prompts().slice(from);
        const asked = world.model
          .requests()
          .map(({ request }) => request?.inputs.map(({ text }) => text));
        expect(
          seen.map((prompt) => prompt.text),
          JSON.stringify(asked.slice(-8)),
        ).toEqual(texts);
        await world.untilIdle();
      }
    });

    test('inputs while a tool runs', async () => {
      for (let round = 0; round < width.busy; round += 1) {
        const first = await world.send(`tool ${round}`);
        const on = join(world.sandbox.workDir, `tool-${round}-on`);
        await world.until('the tool', () => existsSync(on));
        const keys = [await world.send(`during tool ${round} B`)];
        keys.push(await world.send(`during tool ${round} C\nof two lines`));
        for (const key of keys) await world.wait(key, 'accepted');
        for (const key of keys) {
          const mode = pin.engine === 'codex' ? 'steering' : 'native_queue';
          expect(world.receipt(key).input?.mode).toBe(mode);
        }
        writeFileSync(join(world.sandbox.workDir, `tool-${round}-off`), '');
        for (const key of [first, ...keys]) await world.wait(key, 'settled');
        await world.untilIdle();
        expect(world.model.countOf(`during tool ${round} B`)).toBe(1);
        expect(world.model.countOf(`during tool ${round} C\nof two lines`)).toBe(1);
      }
    });

    for (const word of ['stream', 'think'] as const) {
      test(`inputs while the model ${word}s`, async () => {
        for (let round = 0; round < width.busy; round += 1) {
          const first = await world.send(`${word} ${round}`);
          await world.model.reached(`${word}-${round}`);
          const keys = [await world.send(`during ${word} ${round} B`)];
          keys.push(await world.send(`during ${word} ${round} B`));
          for (const key of keys) await world.wait(key, 'accepted');
          world.model.release(`${word}-${round}`);
          for (const key of [first, ...keys]) await world.wait(key, 'settled');
          await world.untilIdle();
          expect(world.model.countOf(`during ${word} ${round} B`)).toBe(2);
        }
      });
    }

    test('16 KiB in many lines and in one', async () => {
      await exactlyOrRefused([
        { name: 'many lines', text: manyLines('large') },
        { name: 'one line', text: oneLongLine('long') },
      ]);
    });

    test('a resize in the middle of a delivery', async () => {
      for (let round = 0; round < width.races; round += 1) {
        const sending = world.send(`resized ${round}`);
        world.agent.resize(round % 2 === 0 ? 80 : 100, round % 2 === 0 ? 26 : 32);
        const key = await sending;
        await world.wait(key, 'settled');
        await world.untilIdle();
      }
      world.agent.resize(100, 32);
      await world.untilIdle();
    });

    test("a person's draft is neither sent nor changed", async () => {
      await world.untilIdle();
      world.agent.personInput('a draft of mine');
      await world.until(
        'the draft',
        async () => (await world.reading()).composer?.draft === 'a draft of mine',
      );
      const key = await world.send('after the draft');
      await world.until('the hold', () => world.receipt(key).input?.phase === 'waiting_for_writer');
      expect((await world.reading()).composer?.draft).toBe('a draft of mine');
      world.agent.personInput('\u0003');
      expect((await world.wait(key, 'settled')).state).toBe('completed');
    });

    test('awkward texts arrive exactly or are refused', async () => {
      await exactlyOrRefused(awkwardTexts(`text-${pin.engine}`));
    });
  });
}
