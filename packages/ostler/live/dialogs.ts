import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PinnedEngine, RealEngineOptions } from '@ostler/lab';
import { describe, expect, test } from 'vitest';
import { reasonToSkip, type Width } from './deliveries.js';
import { LiveWorld } from './live-world.js';
import { liveScript } from './script.js';

const escape = '\u001b';
const down = '\u001b[B';

interface StartScreen {
  readonly name: string;
  readonly engine: RealEngineOptions;
  /** What a person presses to leave it, one after another. */
  readonly leave: readonly string[];
}

const startScreens: Readonly<Record<PinnedEngine['engine'], readonly StartScreen[]>> = {
  claude: [
    { name: 'trust', engine: { trusted: false }, leave: [down, '\r'] },
    { name: 'API key', engine: { keyApproved: false }, leave: [`${escape}[A`, '\r'] },
    {
      name: 'bypass warning',
      engine: { permissions: 'free', freeAccepted: false },
      leave: [down, '\r'],
    },
  ],
  codex: [
    { name: 'trust', engine: { trusted: false }, leave: ['\r'] },
    { name: 'model migration', engine: { model: 'gpt-5.5' }, leave: [down, '\r'] },
    { name: 'update', engine: { updateAvailable: '9.9.9' }, leave: [escape] },
    { name: 'hooks review', engine: { promptHook: 'true' }, leave: [escape] },
  ],
};

/** Nothing is typed into a dialog; what waited arrives once it has closed. */
export function dialogs(pin: PinnedEngine, width: Width): void {
  const skip = reasonToSkip(pin);
  const title = `${pin.engine} ${pin.version}${skip === null ? '' : ` (skipped: ${skip})`}`;
  describe.skipIf(skip !== null)(title, () => {
    for (const kind of ['permission', 'question'] as const) {
      test(`a ${kind} open before the send`, async () => {
        await using world = await open(pin);
        for (let round = 0; round < width.races; round += 1) {
          world.model.release(`${kind}-${round}`);
          await world.send(`${kind} ${round}`);
          await world.untilHeld();
          const key = await world.send(`behind ${kind} ${round}`);
          await world.until(
            'the hold',
            () => world.receipt(key).input?.phase === 'waiting_for_user',
          );
          expect((await world.reading()).hold).toBe(kind);
          world.agent.personInput(escape);
          await world.wait(key, 'settled');
          await world.untilIdle();
          expect(world.model.countOf(`behind ${kind} ${round}`)).toBe(1);
          expect(approved(world, `permission-${round}`)).toBe(false);
        }
        expectNoFault(world);
      });
    }

    test('a permission that opens while an input is being typed', async () => {
      await using world = await open(pin);
      for (let round = 0; round < width.races; round += 1) {
        await world.send(`race ${round}`);
        await world.model.reached(`race-${round}`);
        world.model.release(`race-${round}`);
        const key = await world.send(`into the race ${round}`);
        await world.untilHeld();
        expect(approved(world, `race-${round}`)).toBe(false);
        world.agent.personInput(escape);
        await world.wait(key, 'settled');
        await world.until('the end of the race', async () => (await world.reading()).hold === null);
        expect(approved(world, `race-${round}`)).toBe(false);
        if ((await world.reading()).composer?.draft) world.agent.personInput('\u0003');
        await world.untilIdle();
      }
      expectNoFault(world);
    });

    for (const screen of startScreens[pin.engine]) {
      test(`the ${screen.name} screen at the start`, async () => {
        await using world = await open(pin, screen.engine);
        const key = await world.send('sent before the start screen');
        await world.until('the hold', () => world.receipt(key).input?.phase === 'waiting_for_user');
        expect(world.model.received()).toEqual([]);
        for (const keys of screen.leave) {
          const before = (await world.agent.screen()).rows.join('\n');
          world.agent.personInput(keys);
          await world.until(
            'a change on the screen',
            async () => (await world.agent.screen()).rows.join('\n') !== before,
          );
        }
        expect((await world.wait(key, 'settled')).state).toBe('completed');
        expectNoFault(world);
      });
    }

    test('a start without any settings: nothing is typed into it', async () => {
      await using world = await open(pin, { onboarded: false, trusted: false, keyApproved: false });
      const key = await world.send('sent into the first screens');
      await world.until('a hold or an end', () => {
        const { input, state } = world.receipt(key);
        return input?.phase === 'waiting_for_user' || state === 'rejected';
      });
      await world.agent.close();
      expect(world.receipt(key).state).toBe('rejected');
      expect(world.model.received()).toEqual([]);
    });
  });
}

function open(pin: PinnedEngine, engine: RealEngineOptions = {}): Promise<LiveWorld> {
  return LiveWorld.open(pin, { script: liveScript(20), engine });
}

function approved(world: LiveWorld, name: string): boolean {
  return existsSync(join(world.sandbox.workDir, `${name}-approved`));
}

function expectNoFault(world: LiveWorld): void {
  const { faults } = world.tally.account(world.model, (key) => world.receipt(key));
  expect(faults).toEqual([]);
}
