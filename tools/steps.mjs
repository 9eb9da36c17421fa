import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { node, runQuiet } from './child.mjs';
import { underLock } from './lock.mjs';
import { root } from './root.mjs';
import { runVitest } from './vitest.mjs';

const packageBin = (path) => join(root, 'node_modules', path);

/** A step that is one check: it passes where its program ends with 0. */
function check(name, what, args) {
  const run = () => runQuiet(node, args, { label: `${name} still runs` });
  return { name, stage: 'check', run: () => asOneCheck(what, run) };
}

async function asOneCheck(what, run) {
  const { ok, output } = await run();
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, detail: what, output };
}

/** The exit code of tools/offline.mjs where it did not run the command. */
const wouldHaveNetwork = 69;
const ownTool = (path) => join(root, 'tools', path);

/** In the order of the table. `first` before all others, `check` two at a time, `alone` one after another. */
export const steps = [
  {
    name: 'build',
    stage: 'first',
    run: () => asOneCheck('tsc -b, and the programs packed', () => underLock('prepare', build)),
  },
  check('lint', 'eslint, with types', [
    packageBin('eslint/bin/eslint.js'),
    '--max-warnings=0',
    '.',
  ]),
  check('types', 'the tests type-check', [
    packageBin('typescript/bin/tsc'),
    '-p',
    'tools/tsconfig.tests.json',
  ]),
  check('format', 'biome', [packageBin('@biomejs/biome/bin/biome'), 'format', '.']),
  check('floors', 'imports go down only, no cycles', [
    packageBin('dependency-cruiser/bin/dependency-cruise.mjs'),
    '--config',
    '.dependency-cruiser.cjs',
    'packages',
  ]),
  check('unused', 'knip: no export, file or dependency that nobody uses', [
    packageBin('knip/bin/knip.js'),
    '--no-config-hints',
  ]),
  check('packages', 'publint and attw on the packed packages', [ownTool('packages.mjs')]),
  check('roots', 'roots load without native modules', [ownTool('roots.mjs')]),
  check('docs', 'code blocks equal their files, links resolve', [ownTool('docs.mjs')]),
  check('reference', 'docs/reference is what the packages say', [
    ownTool('reference.mjs'),
    '--check',
  ]),
  check('acceptance', 'every case is shown where it has to be', [
    ownTool('acceptance.mjs'),
    '--check',
  ]),
  check('diagram', 'the state diagram is the machine', [ownTool('state-diagram.mjs'), '--check']),
  { name: 'tests', stage: 'alone', run: () => runVitest('vitest.config.ts') },
  { name: 'wire', stage: 'alone', run: runConformance },
  { name: 'live', stage: 'alone', run: runLive },
];

/** The daemon against a script that knows only the contract. Not run is skipped, never passed. */
async function runConformance() {
  const hasPython = (await runQuiet('python3', ['--version'])).ok;
  if (!hasPython) {
    return {
      passed: 0,
      failed: 0,
      skipped: 1,
      detail: 'no python3, which the script is written in',
    };
  }
  const { ok, output } = await runQuiet(node, [ownTool('conformance.mjs')], {
    label: 'the conformance script still runs',
  });
  const [, cases, passed, failed, skipped] =
    /(\d+) cases, (\d+) passed, (\d+) failed, (\d+) skipped\s*$/.exec(output) ?? [];
  if (cases === undefined) return { passed: 0, failed: 1, skipped: 0, detail: 'no count', output };
  const count = { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
  return { ...count, detail: `${cases} cases of the wire contract`, ...(ok ? {} : { output }) };
}

/** Real engines run only where they have no network but loopback. Not run is skipped, never passed. */
async function runLive() {
  const skipped = (detail) => ({ passed: 0, failed: 0, skipped: 1, detail });
  if (!existsSync(join(root, '.engines'))) {
    return skipped('no real engines in .engines; `npm run engines` fetches them, then run again');
  }
  const offline = [node, ownTool('offline.mjs'), '--require', '--'];
  const result = await runVitest('vitest.live.config.ts', { before: offline });
  if (result.code === wouldHaveNetwork) {
    return skipped('this system gives no network namespace, and real engines run offline only');
  }
  return result;
}
