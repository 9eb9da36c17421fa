// Looks for the shortest schedule that catches each sabotage and writes them to the simulation's corpus.
// Run it when a sabotage was added, or when one is no longer caught by its schedule: node tools/sabotage-corpus.mjs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText, root } from './root.mjs';
import { sabotages } from './sabotages.mjs';
import { packSimulation } from './simulation-bundle.mjs';

const file = join(root, 'packages', 'lab', 'src', 'simulation', 'corpus.json');
const maxSeeds = 20_000;
const known = JSON.parse(readText(file) ?? '[]');
const packed = await packSimulation(sabotages);
const corpus = [];
for (const sabotage of sabotages) {
  const { runTask } = await packed.load(sabotage.name);
  const old = known.find((entry) => entry.catches === sabotage.name);
  const found =
    old && (await catches(runTask, sabotage, old.plan)) ? old : await find(runTask, sabotage);
  if (found) corpus.push(found);
  process.stdout.write(
    found
      ? `${sabotage.name}: ${found.plan.actions.length} actions, seed ${found.plan.seed}\n`
      : `${sabotage.name}: survives ${maxSeeds} seeds\n`,
  );
}
packed[Symbol.dispose]();
writeFileSync(file, `${JSON.stringify(corpus, null, 2)}\n`);

async function catches(runTask, { breaks }, plan) {
  const { violations } = await runTask({ kind: 'plan', plan });
  return breaks.includes(violations[0]?.invariant);
}

async function find(runTask, sabotage) {
  for (let from = 1; from <= maxSeeds; ) {
    const task = { kind: 'explore', from, count: maxSeeds - from + 1, stride: 1, maxFailures: 1 };
    const { exploration } = await runTask(task, () => undefined);
    const [failure] = exploration.failures;
    if (!failure) return null;
    from = failure.seed + 1;
    if (!sabotage.breaks.includes(failure.violation.invariant)) continue;
    const { plan } = await runTask({ kind: 'shrink', seed: failure.seed }, () => undefined);
    return { catches: sabotage.name, breaks: failure.violation.invariant, plan };
  }
  return null;
}
