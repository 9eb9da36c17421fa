import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PinnedEngine, RealEngineOptions } from '@ostler/lab';
import { describe, expect, test } from 'vitest';
import { reasonToSkip, type Width } from './deliveries.js';
import { LiveWorld } from './live-world.js';
import { liveScript } from './script.js';

const escape = '\u001b';
/** A person's own yes to a permission. */
const yes = { claude: '1', codex: 'y' } as const;
const down = '\u001b[B';
const up = '\u001b[A';

interface StartScreen {
  /** As the engine's reader calls it. */
  readonly hold: string;
  readonly engine: RealEngineOptions;
  /** Versions before this one don't show it. */
  readonly since?: string;
  /** What a person presses to choose another answer than the first, and the row that shows it chosen. */
  readonly choose?: { readonly keys: string; readonly row: string };
  /** What a person presses then. */
  readonly confirm: string;
}

const startScreens: Readonly<Record<PinnedEngine['engine'], readonly StartScreen[]>> = {
  claude: [
    {
      hold: 'trust',
      engine: { trusted: false },
      choose: { keys: down, row: '❯ Yes, I trust' },
      confirm: '\r',
    },
    {
      hold: 'api_key',
      engine: { keyApproved: false },
      choose: { keys: up, row: '❯ Yes' },
      confirm: '\r',
    },
    {
      hold: 'auto_mode_offer',
      engine: { autoModeDeclined: false },
      since: '2.1.328',
      choose: { keys: down, row: '❯ No, keep' },
      confirm: '\r',
    },
    {
      hold: 'bypass_permissions',
      engine: { permissions: 'free', freeAccepted: false },
      choose: { keys: down, row: '❯ Yes, I accept' },
      confirm: '\r',
    },
  ],
  codex: [
    { hold: 'trust', engine: { trusted: false }, confirm: '\r' },
    {
      hold: 'model_migration',
      engine: { model: 'gpt-5.5' },
      choose: { keys: down, row: '› 2. Use existing model' },
      confirm: '\r',
    },
    { hold: 'update', engine: { updateAvailable: '9.9.9' }, confirm: escape },
    { hold: 'hooks_review', engine: { promptHook: 'true' }, confirm: escape },
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
          await world.untilDialog(kind);
          const key = await world.send(`behind ${kind} ${round}`);
          await world.until(
            'the hold',
            () => world.receipt(key).input?.phase === 'waiting_for_user',
          );
          expect((await world.reading()).hold).toBe(kind);
          expect(approved(world, `permission-${round}`)).toBe(false);
          await world.press(
            kind === 'permission' ? yes[pin.engine] : '\r',
            async () => (await world.reading()).hold !== kind,
          );
          await world.wait(key, 'settled');
          await world.untilIdle();
          expect(world.model.countOf(`behind ${kind} ${round}`)).toBe(1);
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
        await world.untilDialog('permission');
        expect(approved(world, `race-${round}`)).toBe(false);
        await world.press(yes[pin.engine], () => approved(world, `race-${round}`));
        await world.settle(key);
        await world.untilIdle();
      }
      expectNoFault(world);
    });

    for (const screen of startScreens[pin.engine]) {
      if (screen.since !== undefined && pin.version < screen.since) continue;
      test(`the screen ${screen.hold} at the start`, async () => {
        await using world = await open(pin, screen.engine);
        const first = await world.send('sent before the start screen');
        await world.untilDialog(screen.hold);
        const behind = await world.send('sent behind the start screen');
        await world.until('its hold', () => {
          const { input, state } = world.receipt(first);
          return state === 'unknown' || input?.hold === screen.hold;
        });
        expect(world.model.countOf('sent behind the start screen')).toBe(0);
        const { choose } = screen;
        await world.press(
          async () => (choose && !(await world.shows(choose.row)) ? choose.keys : screen.confirm),
          async () => (await world.reading()).hold !== screen.hold,
        );
        // The dialog may have opened between the paste and Enter: then the first never went.
        expect((await world.settle(first)).state).toMatch(/^(completed|unknown|rejected)$/);
        expect((await world.settle(behind)).state).toBe('completed');
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
