// `npm run conformance`: a daemon of its own held against the wire contract by a script that knows nothing else of
// it (Python 3, standard library only). --filter WORDS   --list   --json. The last line counts the cases.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endLike, node, runInherited } from './child.mjs';
import { root } from './root.mjs';

const script = join(root, 'packages/daemon/conformance/conformance.py');
const { simulatedProgram } = await import(join(root, 'packages/lab/dist/index.js'));
const work = mkdtempSync(join(tmpdir(), 'ostler-conformance-'));
const agent = {
  engine: 'simulated',
  command: node,
  args: [simulatedProgram()],
  cwd: work,
  env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
};
const engines = join(root, 'packages/daemon/conformance/simulated-engine.mjs');
// `endLike` ends this process: nothing behind it would run.
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
endLike(
  await runInherited('python3', [
    ...[script, '--work', work],
    ...['--command', JSON.stringify([node, join(root, 'packages/ostler/bin/ostler.js')])],
    ...['--agent', JSON.stringify(agent)],
    ...['--flags', JSON.stringify(['--engine-module', engines])],
    ...process.argv.slice(2),
  ]),
);
