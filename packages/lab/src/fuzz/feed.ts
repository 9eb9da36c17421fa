import { Screen, type ScreenSnapshot } from '@ostler/terminal';
import type { Chance } from '../simulation/random.js';
import type { Verdict } from './fuzz-case.js';
import { visible } from './screen-oracle.js';

export type FeedStep = Uint8Array | readonly [cols: number, rows: number];

export interface FedScreens {
  /** Everything of one size fed in one piece. */
  readonly whole: ScreenSnapshot;
  /** Null where a screen that got it in pieces, with looks in between, shows the same. */
  readonly chunking: Verdict;
}

const shareOfLooks = 0.1;

/** The same output twice: in one piece, and in pieces as they may come. */
export async function feedTwice(
  size: { readonly cols: number; readonly rows: number },
  steps: readonly FeedStep[],
  cuts: Chance,
): Promise<FedScreens> {
  const whole = await feedOnce(size, steps);
  using parts = new Screen(size);
  for (const step of steps) {
    if (!(step instanceof Uint8Array)) {
      parts.resize(...step);
      continue;
    }
    for (let from = 0; from < step.length; ) {
      const to = from + (cuts.is(0.3) ? cuts.int(1, 3) : cuts.int(1, 900));
      parts.feed(step.subarray(from, to));
      if (cuts.is(shareOfLooks)) await parts.look();
      from = to;
    }
  }
  const same = visible(await parts.look()) === visible(whole);
  return { whole, chunking: same ? null : 'the screen depends on how its bytes were cut' };
}

export async function feedOnce(
  size: { readonly cols: number; readonly rows: number },
  steps: readonly FeedStep[],
): Promise<ScreenSnapshot> {
  using screen = new Screen(size);
  for (const step of steps) {
    if (step instanceof Uint8Array) screen.feed(step);
    else screen.resize(...step);
  }
  return await screen.look();
}
