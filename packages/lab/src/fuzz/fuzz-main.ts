import { type FuzzOptions, fuzz, makeCase, checkCase } from './fuzz.js';
import { shrinkCase } from './shrink-case.js';

/** One worker of `npm run fuzz`: a task as the argument; progress, then the answer, as lines of JSON. */
type Task =
  | ({ readonly kind: 'fuzz' } & Omit<FuzzOptions, 'onCase'>)
  | { readonly kind: 'one'; readonly seed: number }
  | { readonly kind: 'shrink'; readonly seed: number };

/** Progress is told once for so many cases. */
const toldEveryCases = 50;

const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const task = JSON.parse(process.argv[2] ?? 'null') as Task | null;
if (task?.kind === 'fuzz') {
  let cases = 0;
  const onCase = (tally: object): void => {
    cases += 1;
    if (cases % toldEveryCases === 0) say({ done: tally });
  };
  say({ answer: await fuzz({ ...task, onCase }) });
} else if (task?.kind === 'one') {
  const test = makeCase(task.seed);
  say({ answer: { test, fault: await checkCase(test) } });
} else if (task?.kind === 'shrink') {
  const test = await shrinkCase(makeCase(task.seed));
  say({ answer: { test, fault: await checkCase(test) } });
} else throw new TypeError('the one argument has to be a task in JSON');
