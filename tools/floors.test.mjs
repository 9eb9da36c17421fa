import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from './root.mjs';

// A rule nobody has seen fail proves nothing: each case is one file of a small tree that breaks (or keeps) one rule.
const cases = [
  // file, its text, the rule it breaks (or null)
  ['protocol/src/up-by-name.ts', "import '@ostler/store';", 'floor-of-protocol'],
  ['protocol/src/up-by-path.ts', "import '../../store/src/index.js';", 'floor-of-protocol'],
  [
    'protocol/src/up-by-type.ts',
    "import type { A } from '@ostler/engines'; export type B = A;",
    'floor-of-protocol',
  ],
  ['protocol/src/beside.ts', "import '@ostler/terminal';", 'floor-of-protocol'],
  [
    'engines/src/beside.ts',
    "export const store = () => import('@ostler/store');",
    'floor-of-engines',
  ],
  ['runtime/src/up.ts', "export { a } from '@ostler/protocol';", 'floor-of-runtime'],
  ['service/src/up-to-the-top.ts', "import 'ostler';", 'floor-of-service'],
  ['controller/src/subpath.ts', "import '@ostler/service/sessions';", 'floor-of-controller'],
  ['controller/src/down.ts', "import '../../runtime/src/index.js';", 'rooms-have-doors'],
  ['service/src/lab.ts', "export const lab = () => import('@ostler/lab');", 'lab-stays-out'],
  ['service/src/lab.test.ts', "import '@ostler/lab';", null],
  ['ostler/src/eager-lab.ts', "import '@ostler/lab';", 'lab-is-lazy'],
  ['ostler/src/lazy-lab.ts', "export const lab = () => import('@ostler/lab');", null],
  ['ostler/src/demo/demo.ts', "import '@ostler/lab';", null],
  ['ostler/src/eager-demo.ts', "import './demo/demo.js';", 'demo-is-lazy'],
  ['ostler/src/lazy-demo.ts', "export const demo = () => import('./demo/demo.js');", null],
  ['lab/src/ostler.ts', "import 'ostler';", 'lab-below-ostler'],
  ['controller/src/pty.ts', "import 'node-pty';", 'native-terminal'],
  ['terminal/src/pty.ts', "import 'node-pty';", null],
  ['terminal/src/sqlite.ts', "import 'better-sqlite3';", 'native-store'],
  ['controller/src/sqlite.test.ts', "import 'better-sqlite3';", 'native-store'],
  ['client/src/inbox.ts', "import 'better-sqlite3';", 'native-store'],
  ['client/src/node-inbox/file.ts', "import 'better-sqlite3';", null],
  ['client/src/file.ts', "import 'node:fs';", 'client-root-without-core'],
  ['client/src/socket.ts', "import 'ws';", 'client-root-in-a-browser'],
  ['client/src/path.ts', "import './node/here.js';", 'client-root-in-a-browser'],
  ['client/src/node/here.ts', "import 'node:fs';", null],
  ['service/src/one.ts', "import './two.js';", 'no-cycles'],
  ['service/src/nowhere.ts', "import './nowhere-at-all.js';", 'nothing-unresolved'],
  ['service/src/down.ts', "import '@ostler/controller'; import '@ostler/runtime';", null],
];
const others = [
  ['service/src/two.ts', "import './one.js';"],
  ...['runtime', 'store', 'protocol'].map((room) => [
    `${room}/src/index.ts`,
    'export const a = 1;',
  ]),
];

let dir;
let broken;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ostler-floors-'));
  for (const [path, text] of [...cases, ...others]) {
    const file = join(dir, 'packages', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${text}\n`);
  }
  await copyFile(join(root, 'tsconfig.base.json'), join(dir, 'tsconfig.base.json'));
  const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [
    cruiser,
    '--config',
    join(root, '.dependency-cruiser.cjs'),
    '--output-type',
    'json',
    'packages',
  ];
  // The program ends with the number of violations; its report is on stdout all the same.
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: dir,
    maxBuffer: 1 << 24,
  }).catch((error) => error);
  broken = new Map();
  for (const { from, rule } of JSON.parse(stdout).summary.violations) {
    const path = from.replace(/^packages\//, '');
    broken.set(path, (broken.get(path) ?? new Set()).add(rule.name));
  }
}, 60_000);

afterAll(() => rm(dir, { recursive: true, force: true }));

describe('the floors', () => {
  test.each(cases)('%s: %s breaks %s', (path, _text, rule) => {
    const names = [...(broken.get(path) ?? [])];
    if (rule !== null) {
      expect(names).toContain(rule);
      return;
    }
    // Package names do not resolve in this tree, which is another rule's matter.
    expect(names.filter((name) => name !== 'nothing-unresolved')).toEqual([]);
  });
});
