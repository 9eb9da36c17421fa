import { describe, expect, test } from 'vitest';
import { crashOnce, type Scenario } from './testing/crash-run.js';

/** `npm run crash` runs them all; what every run of the tests takes is the first. */
const whole = process.env['OSTLER_CRASH_MATRIX'] === 'whole';
const atOnce = 2;
const tries = 4;

const send = (idempotencyKey: string, text: string) =>
  ({ do: 'send', idempotencyKey, text }) as const;
const busy = [
  send('prelude', 'work for a while'),
  { do: 'wait', idempotencyKey: 'prelude', until: 'started' },
] as const;
const whileBusy = (
  busyRule: NonNullable<Scenario['script']['busyRule']>,
): Omit<Scenario, 'name' | 'hosted'> => ({
  script: {
    busyRule,
    turns: [{ text: 'work for a while', until: 'finish' }, { forMs: 10 }],
    boundaryMs: 20,
  },
  prelude: [...busy],
  steps: [send('a', 'sent while it works'), { do: 'wait', idempotencyKey: 'a', until: 'accepted' }],
  finish: (control) => control.release('finish'),
});

const scenarios: readonly Scenario[] = [
  {
    name: 'one message to an agent that outlives us',
    hosted: true,
    script: { turns: [{ forMs: 10 }] },
    prelude: [],
    steps: [send('a', 'only one'), { do: 'wait', idempotencyKey: 'a', until: 'settled' }],
  },
  {
    name: 'two messages and a retry',
    hosted: true,
    script: { turns: [{ forMs: 10 }] },
    prelude: [],
    steps: [
      send('a', 'first of two'),
      send('b', 'second of two'),
      send('a', 'first of two'),
      { do: 'wait', idempotencyKey: 'b', until: 'settled' },
    ],
  },
  {
    name: 'one message to an agent that dies with us',
    hosted: false,
    script: { turns: [{ forMs: 10 }] },
    prelude: [],
    steps: [send('a', 'only one'), { do: 'wait', idempotencyKey: 'a', until: 'settled' }],
  },
  { name: 'steering', hosted: true, ...whileBusy('steering') },
  { name: 'native queue', hosted: true, ...whileBusy('native_queue') },
  { name: 'native input', hosted: true, ...whileBusy('native_input') },
  {
    name: 'our own queue',
    hosted: true,
    ...whileBusy('daemon_queue'),
    steps: [
      send('a', 'sent while it works'),
      { do: 'tell', what: 'finish' },
      { do: 'wait', idempotencyKey: 'a', until: 'started' },
    ],
    onTold: { finish: (control) => control.release('finish') },
  },
  {
    name: 'a stop',
    hosted: true,
    script: { turns: [{ text: 'work for a while', until: 'never' }, { forMs: 10 }] },
    prelude: [...busy],
    steps: [
      { do: 'stop', idempotencyKey: 's' },
      { do: 'wait', idempotencyKey: 's', until: 'settled' },
    ],
    finish: async (control) => {
      if (!control.events.some(({ event, how }) => event === 'turn_ended' && how === 'cancelled')) {
        await control.act({ do: 'end_turn' });
      }
    },
  },
  {
    name: 'a cancel behind the paste',
    hosted: true,
    script: { turns: [{ forMs: 10 }], timing: { echoMs: 60 } },
    prelude: [],
    steps: [
      send('a', 'never mind'),
      { do: 'passed', point: 'after write' },
      { do: 'cancel', idempotencyKey: 'a' },
      { do: 'rest' },
    ],
  },
];

describe('SIGKILL at every point of a delivery', () => {
  for (const scenario of whole ? scenarios : scenarios.slice(0, 1)) {
    test(scenario.name, { timeout: 15 * 60_000 }, async () => {
      const { points } = await crashOnce(scenario, null);
      expect(points.length).toBeGreaterThan(4);
      const seams = new Set(points.map(seamOf));
      let missed = 0;
      const faults: string[] = [];
      const waiting = [...points];
      const worker = async (): Promise<void> => {
        for (let point = waiting.shift(); point; point = waiting.shift()) {
          const outcome = await untilItDies(scenario, point);
          if (outcome) seams.delete(seamOf(point));
          else missed += 1;
          for (const fault of outcome?.faults ?? []) faults.push(`${point}: ${fault}`);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      process.stdout.write(
        `crash matrix, ${scenario.name}: ${points.length} points, ${missed} left out by timing, ${faults.length} faults\n`,
      );
      // A seam is a gap where nobody died at any of its points.
      expect({ gaps: [...seams], faults }).toEqual({ gaps: [], faults: [] });
      expect(missed).toBeLessThan(points.length / 8);
    });
  }
});

/** A point's place in the code, whichever time it is passed. */
const seamOf = (point: string): string => point.replace(/ \d+$/, '');

/** A point that timing left out is tried again. */
async function untilItDies(scenario: Scenario, point: string) {
  for (let count = 0; count < tries; count += 1) {
    const outcome = await crashOnce(scenario, point);
    if (outcome.died) return outcome;
  }
  return null;
}
