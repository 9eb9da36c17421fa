// Imports every built entry point, each in a process of its own that refuses to load native code: native code is
// loaded when it is used, never by an import. Packages with native parts may come with terminal and store, and with
// those that open files and terminals through them (mailbox, daemon, ostler); not with another root.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { node, runQuiet } from './child.mjs';
import { root } from './root.mjs';

const withNative = new Set([
  '@ostler/terminal',
  '@ostler/store',
  '@ostler/mailbox',
  '@ostler/daemon',
  'ostler',
]);
/** Roots a browser loads too: they import nothing of Node. */
const forBrowsers = new Set(['@ostler/client', '@ostler/protocol', '@ostler/runtime']);
/** Resolves as a browser's tools do, and refuses what is Node's own to every module loaded from here on. */
const withoutNode = `
    const { isBuiltin, register } = await import('node:module');
    if (!isBuiltin('fs')) throw new Error('the check itself does not work');
    register('data:text/javascript,' + encodeURIComponent(\`
      import { isBuiltin } from 'node:module';
      export function resolve(specifier, context, next) {
        if (isBuiltin(specifier) && !context.parentURL?.includes('[eval')) {
          throw new Error(specifier + ' is imported by ' + context.parentURL);
        }
        const conditions = [...context.conditions.filter((name) => name !== 'node'), 'browser'];
        return next(specifier, { ...context, conditions });
      }
    \`));
`;

const faults = [];
let loaded = 0;

for (const folder of readdirSync(join(root, 'packages')).sort()) {
  const manifest = join(root, 'packages', folder, 'package.json');
  if (!existsSync(manifest)) continue;
  const { name, exports } = JSON.parse(readFileSync(manifest, 'utf8'));
  for (const [path, target] of Object.entries(exports)) {
    if (path.includes('*') || path.endsWith('.json')) continue;
    const file = join(root, 'packages', folder, target.default);
    const isPlain = path === '.' && forBrowsers.has(name);
    const program = (isPlain ? withoutNode : '') + probe(file);
    const { ok, output } = await runQuiet(node, ['--input-type=module', '-e', program]);
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
    process.dlopen = (_module, path) => { throw new Error('native code is loaded by an import: ' + path); };
    await import(${JSON.stringify(file)});
    const { createRequire } = await import('node:module');
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    const packages = loaded.map((path) => /node_modules.(node-pty|better-sqlite3)/.exec(path)?.[1]);
    console.log([...new Set(packages.filter(Boolean))].join(', '));
    process.exit(0);
  `;
}
