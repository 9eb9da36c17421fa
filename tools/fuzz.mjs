// `npm run fuzz`: made-up and mutated input into protocol, screen, readers, records and bodies, on two workers.
// --bytes 10000000   --frames 100000   --records 200000   --bodies 20000   --from 1   --seed 4711 (one case)
// --workers 2   --max-faults 3
// The last line counts; the exit code is 1 where a fault was found, or a worker failed.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './root.mjs';
import { runWorker } from './simulation-worker.mjs';

const worker = join(root, 'packages', 'lab', 'dist', 'fuzz', 'fuzz-main.js');
const tellEveryMs = 5_000;
const defaults = {
  bytes: 10_000_000,
  frames: 100_000,
  records: 200_000,
  bodies: 20_000,
  from: 1,
  workers: 2,
  'max-faults': 3,
};
const amountNames = ['bytes', 'frames', 'records', 'bodies'];

const wanted = options();
const { cases, faults, tally } = wanted.seed === null ? await many(wanted) : await one(wanted.seed);
if (faults > 0) process.exitCode = 1;
print(`${cases} cases, ${counted(tally)}, ${faults} faults`);

async function one(seed) {
  const { fault, test } = await runWorker(worker, { kind: 'one', seed });
  print(JSON.stringify(test));
  if (fault !== null) await explain(seed, fault);
  const nothing = Object.fromEntries(amountNames.map((name) => [name, 0]));
  return { cases: 1, tally: nothing, faults: fault === null ? 0 : 1 };
}

async function many({ from, maxFaults, workers, ...amounts }) {
  print(`cases from ${from} on, ${workers} workers`);
  const startedMs = performance.now();
  const done = new Map();
  const tell = setInterval(() => {
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    print(`${counted(summed([...done.values()]))} after ${seconds} s`);
  }, tellEveryMs);
  const share = Object.fromEntries(
    amountNames.map((name) => [name, Math.ceil(amounts[name] / workers)]),
  );
  const answers = await Promise.all(
    Array.from({ length: workers }, (_, index) => {
      const task = { kind: 'fuzz', from: from + index, stride: workers, amounts: share, maxFaults };
      return runWorker(worker, task, (tally) => done.set(index, tally));
    }),
  ).finally(() => clearInterval(tell));
  const found = answers.flatMap(({ faults }) => faults);
  for (const { fault, seed } of found.slice(0, maxFaults)) await explain(seed, fault);
  print(`${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  return {
    cases: answers.reduce((sum, answer) => sum + answer.cases, 0),
    tally: summed(answers.map((answer) => answer.tally)),
    faults: found.length,
  };
}

async function explain(seed, fault) {
  print(`\nFAULT ${fault}`);
  print(`again: npm run fuzz -- --seed ${seed}`);
  const small = await runWorker(worker, { kind: 'shrink', seed });
  print(`the smallest case found, for fixtures/fuzz: ${JSON.stringify(small.test)}`);
}

function summed(tallies) {
  return Object.fromEntries(
    amountNames.map((name) => [name, tallies.reduce((sum, tally) => sum + tally[name], 0)]),
  );
}

function counted(tally) {
  return amountNames.map((name) => `${tally[name]} ${name}`).join(', ');
}

function options() {
  const names = [...Object.keys(defaults), 'seed'];
  let values;
  try {
    ({ values } = parseArgs({
      options: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    }));
  } catch (failure) {
    process.stderr.write(`${failure.message}\n`);
    process.exit(2);
  }
  const number = (name) => {
    const value = Number(values[name] ?? defaults[name]);
    const least = name === 'workers' || name === 'max-faults' ? 1 : 0;
    if (Number.isSafeInteger(value) && value >= least) return value;
    process.stderr.write(`--${name} has to be a whole number, not "${values[name]}"\n`);
    process.exit(2);
  };
  return {
    ...Object.fromEntries(amountNames.map((name) => [name, number(name)])),
    from: number('from'),
    workers: number('workers'),
    maxFaults: number('max-faults'),
    seed: values.seed === undefined ? null : number('seed'),
  };
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
