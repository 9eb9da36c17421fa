import { runTask, type Task } from './simulate.js';

/** Progress is told once for so many schedules. */
const toldEverySchedules = 50;

/** One worker of `npm run sim`: a task as the argument; progress, then the answer, as lines of JSON. */
const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const task = JSON.parse(process.argv[2] ?? 'null') as unknown;
if (!isTask(task)) throw new TypeError('the one argument has to be a task in JSON');
const answer = await runTask(task, (done) => {
  if (done % toldEverySchedules === 0) say({ done });
});
say({ answer });

function isTask(value: unknown): value is Task {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const names =
    fields.kind === 'explore'
      ? ['from', 'count', 'stride', 'maxFailures']
      : fields.kind === 'replay' || fields.kind === 'shrink'
        ? ['seed']
        : null;
  return names !== null && names.every((name) => Number.isSafeInteger(fields[name]));
}
