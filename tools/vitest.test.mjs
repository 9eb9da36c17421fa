import { expect, test } from 'vitest';
import { count } from './vitest.mjs';

const file = (status, ...tests) => ({
  status,
  assertionResults: tests.map((one) => ({ status: one })),
});
const report = (passed, failed, pending, ...testResults) =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: pending,
    numTodoTests: 0,
    testResults,
  });

test.each([
  ['a good run', report(2, 0, 1, file('passed', 'passed', 'passed')), 0, [2, 0, 1]],
  ['a failed test', report(1, 1, 0, file('failed', 'failed', 'passed')), 1, [1, 1, 0]],
  [
    'a file that does not load',
    report(1, 0, 0, file('failed'), file('passed', 'passed')),
    1,
    [1, 1, 0],
  ],
  ['an error outside every test', report(1, 0, 0, file('passed', 'passed')), 1, [1, 1, 0]],
  ['no test at all', report(0, 0, 0), 0, [0, 1, 0]],
  ['only skipped tests', report(0, 0, 3, file('passed')), 0, [0, 1, 3]],
  ['no report', null, 0, [0, 1, 0]],
])('%s is counted', (_name, text, code, [passed, failed, skipped]) => {
  expect(count(text, code)).toMatchObject({ passed, failed, skipped });
});
