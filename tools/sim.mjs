// `npm run sim`: seeded schedules of the whole delivery path in virtual time, on two workers.
// --seeds 1000000   --from 1   --seed 4711 (one seed, with its trace)   --workers 2   --max-failures 3
// The last line counts; the exit code is 1 where anything was violated, or a worker failed.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './root.mjs';
import { runWorker } from './simulation-worker.mjs';

const worker = join(root, 'packages', 'lab', 'dist', 'simulation', 'simulate-main.js');
const tellEveryMs = 5_000;
const oneRunSeeds = 5_000;

const wanted = options();
const totals = wanted.seed === null ? await many(wanted) : await one(wanted.seed);
if (totals.failures.length > 0) process.exitCode = 1;
print(
  `${totals.schedules} schedules, ${totals.tally.deliveries} deliveries, ${totals.failures.length} violations`,
);

async function one(seed) {
  const { failed, lines, tally } = await runWorker(worker, { kind: 'replay', seed });
  for (const line of lines) print(line);
  return { schedules: 1, tally, failures: failed ? [seed] : [] };
}

async function many({ from, maxFailures, seeds, workers }) {
  print(`seeds ${from} to ${from + seeds - 1}, ${workers} workers`);
  const startedMs = performance.now();
  const done = new Map();
  const seconds = () => (performance.now() - startedMs) / 1_000;
  const tell = setInterval(() => {
    const sum = [...done.values()].reduce((total, count) => total + count, 0);
    print(`${sum} of ${seeds} schedules after ${seconds().toFixed(0)} s`);
  }, tellEveryMs);
  const answers = await Promise.all(
    Array.from({ length: workers }, (_, index) => {
      const count = Math.floor((seeds - index + workers - 1) / workers);
      const task = { kind: 'explore', from: from + index, count, stride: workers, maxFailures };
      return runWorker(worker, task, (schedules) => done.set(index, schedules));
    }),
  ).finally(() => clearInterval(tell));
  const parts = answers.map(({ exploration }) => exploration);
  const failures = parts.flatMap((part) => part.failures).sort((a, b) => a.seed - b.seed);
  for (const { seed, violation } of failures.slice(0, maxFailures)) await explain(seed, violation);
  const tally = {};
  for (const part of parts) {
    for (const [name, count] of Object.entries(part.tally))
      tally[name] = (tally[name] ?? 0) + count;
  }
  const schedules = parts.reduce((sum, part) => sum + part.schedules, 0);
  figures({ schedules, tally, seconds: seconds() });
  return { schedules, tally, failures };
}

async function explain(seed, { invariant, what }) {
  print(`\nVIOLATED ${invariant}: ${what}`);
  print(`again: npm run sim -- --seed ${seed}`);
  const small = await runWorker(worker, { kind: 'shrink', seed });
  if (!small.plan) return print(`seed ${seed} does not fail when it is run again`);
  print('the shortest trace found:');
  for (const line of small.lines) print(line);
  print(`its plan, for the corpus: ${JSON.stringify(small.plan)}`);
}

function figures({ schedules, tally, seconds }) {
  const { accepted, acceptedAfterMs } = tally;
  const mean = accepted === 0 ? 0 : acceptedAfterMs / accepted;
  print(`${(schedules / seconds).toFixed(0)} schedules a second, ${seconds.toFixed(1)} s`);
  print(
    `${tally.submitted} inputs submitted, ${accepted} seen accepted, ${mean.toFixed(0)} ms after it on average`,
  );
  print(
    `${tally.unknown} receipts ended unknown, ${tally.unknownDespiteEvidence} of them though the record had told`,
  );
  const waited = tally.evidenced === 0 ? 0 : tally.evidenceUsedAfterMs / tally.evidenced;
  print(`${tally.evidenced} inputs in the record, used ${waited.toFixed(1)} ms after it told`);
  print(
    `${tally.unseenDialogKeys} keys met a dialog that opened while they were on their way, unseen by anyone`,
  );
  print(`${tally.unseenTwins} inputs met an equal text that a person was just bringing back`);
}

function options() {
  const number = (name, text) => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= (name === 'from' || name === 'seed' ? 0 : 1))
      return value;
    process.stderr.write(`--${name} has to be a whole number, not "${text}"\n`);
    process.exit(2);
  };
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        from: { type: 'string' },
        workers: { type: 'string' },
        'max-failures': { type: 'string' },
      },
    }));
  } catch (failure) {
    process.stderr.write(`${failure.message}\n`);
    process.exit(2);
  }
  return {
    seed: values.seed === undefined ? null : number('seed', values.seed),
    seeds: number('seeds', values.seeds ?? `${oneRunSeeds}`),
    from: number('from', values.from ?? '1'),
    workers: number('workers', values.workers ?? '2'),
    maxFailures: number('max-failures', values['max-failures'] ?? '3'),
  };
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
