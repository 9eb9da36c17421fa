import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { node, runQuiet } from './child.mjs';
import { pack } from './pack.mjs';
import { root } from './root.mjs';

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** `tsc -b`, then the packed programs; resolves with `{ ok, output }`. What no source stands behind any more is removed first. */
export async function build() {
  for (const folder of readdirSync(join(root, 'packages'))) prune(join(root, 'packages', folder));
  const compiled = await runQuiet(node, [tsc, '-b'], { label: 'building' });
  return compiled.ok ? await pack() : compiled;
}

function prune(dir) {
  const dist = join(dir, 'dist');
  if (!existsSync(dist)) return;
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const [, name] = /^(.+?)\.(?:d\.ts|js)(?:\.map)?$/.exec(file.slice(dist.length + 1)) ?? [];
    if (name !== undefined && !hasSource(join(dir, 'src', name))) rmSync(file);
  }
}

function hasSource(path) {
  if (/\.test$|[/\\]testing[/\\]/.test(path)) return false;
  return existsSync(`${path}.ts`);
}
