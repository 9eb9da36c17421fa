import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { node, runInherited } from './child.mjs';
import { readText, root } from './root.mjs';

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

/** Runs vitest on this terminal and counts tests from its own JSON report. */
export async function runVitest(config, { before = [] } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'ostler-vitest-'));
  const report = join(dir, 'report.json');
  const [command, ...args] = [...before, node, vitest, 'run', '--config', config];
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  try {
    const { code } = await runInherited(command, [...args, ...reporters], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return { code, ...count(readText(report), code) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A file that would not load, and an error outside every test, are failures too. */
export function count(reportText, code) {
  if (reportText === null) {
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      detail: `vitest wrote no report, exit code ${code}`,
    };
  }
  const report = JSON.parse(reportText);
  const unloaded = report.testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  let failed = report.numFailedTests + unloaded;
  if (failed === 0 && (code !== 0 || passed === 0)) failed = 1;
  const detail = `${passed} passed, ${failed} failed, ${skipped} skipped in ${report.testResults.length} files`;
  return { passed, failed, skipped, detail };
}
