// Packs every package as it would be published and looks at the archive: what is in it, what its entry
// points resolve to, and whether its types fit them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { node, runQuiet } from './child.mjs';
import { npmCommand } from './npm.mjs';
import { root } from './root.mjs';

const dir = mkdtempSync(join(tmpdir(), 'ostler-pack-'));
const faults = [];

try {
  const npm = npmCommand();
  const args = [
    ...npm.args,
    'pack',
    '--workspaces',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    dir,
  ];
  const packed = await runQuiet(npm.command, args);
  if (packed.ok) {
    const archives = JSON.parse(packed.output.slice(packed.output.search(/^[[{]/m)));
    for (const archive of Object.values(archives)) await lookAt(archive);
    console.log(`${Object.values(archives).length} packages packed and looked at`);
  } else {
    faults.push(packed.output);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}

for (const fault of faults) console.log(fault.trimEnd());
process.exitCode = faults.length === 0 ? 0 : 1;

async function lookAt({ name, filename, files }) {
  const wrong = files
    .map((file) => file.path)
    .filter((path) => /\.test\.|\/testing\/|tsbuildinfo|^src\//.test(path));
  if (wrong.length > 0) faults.push(`${name}: should not be published: ${wrong.join(', ')}`);
  for (const needed of ['README.md', 'LICENSE', 'package.json']) {
    if (!files.some((file) => file.path === needed))
      faults.push(`${name}: ${needed} is not in the package`);
  }
  const archive = join(dir, filename.replace('@', '').replace('/', '-'));
  await mustPass(name, ['publint/src/cli.js', 'run', archive, '--strict']);
  await mustPass(name, [
    '@arethetypeswrong/cli/dist/index.js',
    archive,
    '--profile',
    'esm-only',
    '--format',
    'ascii',
  ]);
}

async function mustPass(name, [program, ...args]) {
  const { ok, output } = await runQuiet(node, [join(root, 'node_modules', program), ...args]);
  if (!ok) faults.push(`${name}: ${program.split('/')[0]}\n${output}`);
}
