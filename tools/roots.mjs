// Imports the built root of every package, each in a process of its own, and looks at what came with it:
// native code may be reached through terminal and store alone, and only once it is used.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { node, runQuiet } from './child.mjs';
import { root } from './root.mjs';

const withNative = new Set(['@ostler/terminal', '@ostler/store']);
const faults = [];
let loaded = 0;

for (const folder of readdirSync(join(root, 'packages')).sort()) {
  const manifest = join(root, 'packages', folder, 'package.json');
  if (!existsSync(manifest)) continue;
  const { name, exports } = JSON.parse(readFileSync(manifest, 'utf8'));
  for (const [path, target] of Object.entries(exports)) {
    if (path.includes('*') || path.endsWith('.json')) continue;
    const file = join(root, 'packages', folder, target.default);
    const { ok, output } = await runQuiet(node, ['--input-type=module', '-e', probe(file)]);
    if (!ok) faults.push(`${name} ${path} does not load:\n${output}`);
    else if (output.trim() !== '' && !withNative.has(name))
      faults.push(`${name} ${path} loads ${output.trim()}`);
    loaded += 1;
  }
}

for (const fault of faults) console.log(fault);
console.log(`${loaded} entry points loaded, ${faults.length} with a fault`);
process.exitCode = faults.length === 0 ? 0 : 1;

function probe(file) {
  return `
    const native = new Set();
    process.dlopen = (module, path) => { native.add(path); throw new Error('native code loaded: ' + path); };
    await import(${JSON.stringify(file)});
    const { createRequire } = await import('node:module');
    for (const path of Object.keys(createRequire(import.meta.url).cache)) {
      const found = /node_modules.(node-pty|better-sqlite3)/.exec(path);
      if (found) native.add(found[1]);
    }
    console.log([...native].join(', '));
    process.exit(0);
  `;
}
