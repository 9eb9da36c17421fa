import { join } from 'node:path';
import { build } from './build.mjs';
import { endLike, node, runInherited } from './child.mjs';
import { ensureInstalled } from './install.mjs';
import { underLock } from './lock.mjs';
import { say } from './progress.mjs';
import { root } from './root.mjs';
import { runSuite, stepNames, unknownSteps } from './suite.mjs';

/** Installs and builds what is missing; ends the process where that fails. */
async function prepare() {
  const built = await underLock('prepare', async (holder) => {
    await ensureInstalled(holder);
    return build();
  });
  if (built.ok) return;
  process.stderr.write(built.output);
  say('the build failed; what it said is above');
  process.exit(1);
}

/** Runs one more program with this terminal, and ends as it ended. */
async function handOver(script, args) {
  endLike(await runInherited(node, [join(root, script), ...args]));
}

export const commands = {
  async test(args) {
    const unknown = unknownSteps(args);
    if (unknown.length > 0) {
      say(`no step is named ${unknown.join(', ')}; there are ${stepNames.join(', ')}`);
      process.exit(2);
    }
    await underLock('prepare', ensureInstalled);
    const failed = await runSuite(args);
    process.exitCode = failed === 0 ? 0 : 1;
  },

  async build() {
    await prepare();
  },

  async demo(args) {
    await prepare();
    await handOver('packages/ostler/dist/program/ostler.js', ['demo', ...args]);
  },

  async bench(args) {
    await prepare();
    await handOver('tools/bench.mjs', args);
  },

  async sim(args) {
    await prepare();
    await handOver('tools/sim.mjs', args);
  },

  async crash() {
    await prepare();
    process.env.OSTLER_CRASH_MATRIX = 'whole';
    const file = 'packages/daemon/src/crash-matrix.test.ts';
    await handOver('node_modules/vitest/vitest.mjs', ['run', file]);
  },

  async conformance(args) {
    await prepare();
    await handOver('tools/conformance.mjs', args);
  },

  async fuzz(args) {
    await prepare();
    await handOver('tools/fuzz.mjs', args);
  },

  async engines(args) {
    await underLock('prepare', ensureInstalled);
    await handOver('tools/engines.mjs', args);
  },
};
