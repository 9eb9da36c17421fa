import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import { root } from './root.mjs';

/** Where a copy asks which sabotage it has; set only while such a copy is loaded and run. */
const seam = '__ostlerSabotage';

/**
 * Packs the simulation, and all of the house that runs in it, from the sources into one module, with
 * every sabotage built in as a choice. Nothing of this is in the sources themselves.
 */
export async function packSimulation(sabotages, entry = 'simulate.ts') {
  const parent = join(root, 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, 'ostler-simulation-'));
  const done = new Set();
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['ostler-source'] },
    ssr: {
      noExternal: [/^@ostler\//],
      resolve: { conditions: ['ostler-source', 'node', 'import', 'default'] },
    },
    plugins: [
      {
        name: 'sabotage',
        enforce: 'pre',
        transform(code, id) {
          const file = relative(root, id);
          const here = sabotages.filter((sabotage) => sabotage.file === file);
          for (const sabotage of here) done.add(sabotage.name);
          return here.length === 0 ? null : { code: withChoices(code, here), map: null };
        },
      },
    ],
    build: {
      ssr: join('packages', 'lab', 'src', 'simulation', entry),
      outDir: dir,
      emptyOutDir: false,
      minify: false,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'simulation.mjs' } },
    },
  });
  const missing = sabotages.filter(({ name }) => !done.has(name));
  if (missing.length > 0)
    throw new Error(`no file for ${missing.map(({ name }) => name).join(', ')}`);
  const file = join(dir, 'simulation.mjs');
  if (!existsSync(file)) throw new Error('the simulation was not packed');
  return {
    file,
    /** The simulation with one sabotage in force, or with none. One after the other. */
    async load(name) {
      globalThis[seam] = name;
      return await import(`${pathToFileURL(file).href}?sabotage=${name ?? 'none'}`);
    },
    [Symbol.dispose]() {
      delete globalThis[seam];
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Each place must be there exactly once: a sabotage that no longer fits its line is a fault of the table. */
function withChoices(code, sabotages) {
  return sabotages.reduce((text, { name, line, find, instead }) => {
    for (const [whole, part] of [
      [text, line],
      [line, find],
    ]) {
      const places = whole.split(part).length - 1;
      if (places !== 1) throw new Error(`${name}: "${part}" is there ${places} times`);
    }
    const choice = `(globalThis.${seam} === ${JSON.stringify(name)} ? ${instead} : ${find})`;
    return text.replace(line, () => line.replace(find, () => choice));
  }, code);
}
