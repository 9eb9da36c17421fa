import { seconds } from './progress.mjs';
import { steps } from './steps.mjs';

export const stepNames = steps.map((step) => step.name);

/** The names that are no step's. */
export function unknownSteps(names) {
  return names.filter((name) => !stepNames.includes(name));
}

/**
 * Runs the steps, prints a table, and closes with `N passed, N failed, N skipped` alone on a line.
 * Names in `only` choose steps. Resolves with the number of failures.
 */
export async function runSuite(only) {
  const chosen = steps.filter((step) => only.length === 0 || only.includes(step.name));
  const rows = new Map();
  for (const stage of ['first', 'check', 'alone']) {
    await runLanes(
      chosen.filter((step) => step.stage === stage),
      stage === 'check' ? 2 : 1,
      rows,
    );
  }
  return printTable(chosen.map((step) => rows.get(step)));
}

async function runLanes(waiting, width, rows) {
  const queue = [...waiting];
  const lane = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift())
      rows.set(step, await runStep(step));
  };
  await Promise.all(Array.from({ length: width }, lane));
}

async function runStep(step) {
  const startedMs = performance.now();
  const result = await step.run();
  const row = { name: step.name, tookMs: performance.now() - startedMs, ...result };
  if (row.output !== undefined && row.failed > 0) {
    process.stdout.write(
      `\n--- ${row.name} failed ---\n${row.output.trimEnd()}\n--- end of ${row.name} ---\n`,
    );
  }
  process.stdout.write(`${formatRow(row)}\n`);
  return row;
}

function word({ failed, passed }) {
  if (failed > 0) return 'FAILED';
  return passed > 0 ? 'passed' : 'skipped';
}

function formatRow(row) {
  return `${row.name.padEnd(10)} ${word(row).padEnd(8)} ${seconds(row.tookMs).padStart(8)}  ${row.detail}`.trimEnd();
}

function printTable(rows) {
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  process.stdout.write(`\n${rows.map(formatRow).join('\n')}\n\n`);
  process.stdout.write(
    `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`,
  );
  return sum('failed');
}
