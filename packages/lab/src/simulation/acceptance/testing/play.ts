import { expect } from 'vitest';
import type { EnginePlan, Plan, PlannedAction } from '../../plan.js';
import { type Outcome, runPlan } from '../../world.js';

/** Nothing unusual ever happens in it. */
const plain: EnginePlan = {
  rule: 'steering',
  bootMs: 50,
  readMs: [1, 1],
  echoMs: [2, 2],
  enterMs: [2, 2],
  frameMs: [4, 4],
  transportMs: [1, 1],
  recordMs: [20, 20],
  recordLossShare: 0,
  recordsInOrder: true,
  hook: false,
  turnMs: [500, 500],
  boundaryMs: 100,
  showsQueue: true,
  swallowShare: 0,
  announceMs: 0,
  graceMs: 0,
  dialogDropsDraft: false,
  ghost: null,
  ghostStyleLate: false,
  spinnerMs: 80,
  halfFrameShare: 0,
  popup: false,
};

export const send = (atMs: number, key: string, text: string, session = 0): PlannedAction => ({
  do: 'send',
  session,
  key,
  text,
  atMs,
});

/** Runs one schedule; no invariant may break in it, whatever else a case asks. */
export async function play(
  actions: readonly PlannedAction[],
  engine: Partial<EnginePlan> = {},
  more: Partial<Plan> & { readonly second?: Partial<EnginePlan> } = {},
): Promise<Trace> {
  const { second, ...plan } = more;
  const engines = [{ ...plain, ...engine }, ...(second ? [{ ...plain, ...second }] : [])];
  const outcome = await runPlan(
    {
      seed: 1,
      engines,
      lookMs: [0, 1],
      writeMs: [0, 1],
      calmFromMs: 20_000,
      calmSession: null,
      actions,
      ...plan,
    },
    { traced: true },
  );
  expect(outcome.violations).toEqual([]);
  return new Trace(outcome);
}

/** What happened, line by line. */
export class Trace {
  readonly lines: readonly string[];

  constructor({ trace }: Outcome) {
    this.lines = trace.map((line) => line.replace(/^\s*\d+ ms {2}/, ''));
  }

  /** These came about in this order, with anything in between. */
  shows(...wanted: readonly (string | RegExp)[]): this {
    let at = 0;
    for (const one of wanted) {
      const found = this.lines.findIndex((line, index) => index >= at && fits(line, one));
      expect(found, `${String(one)} behind line ${at} of\n${this.lines.join('\n')}`).not.toBe(-1);
      at = found + 1;
    }
    return this;
  }

  never(unwanted: string | RegExp): this {
    expect(this.lines.filter((line) => fits(line, unwanted))).toEqual([]);
    return this;
  }

  count(wanted: string | RegExp): number {
    return this.lines.filter((line) => fits(line, wanted)).length;
  }
}

const fits = (line: string, wanted: string | RegExp): boolean =>
  typeof wanted === 'string' ? line.includes(wanted) : wanted.test(line);

export const taken = (text: string): string => `the engine takes "${text}" (us)`;
