import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export interface Program extends Disposable {
  /** The bundle's path, for `node`. */
  readonly path: string;
}

/** Bundles `mail-program.ts` for a plain `node`, at a place from where native modules resolve. */
export async function buildProgram(): Promise<Program> {
  const cache = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));
  mkdirSync(cache, { recursive: true });
  const outDir = mkdtempSync(join(cache, 'ostler-mailbox-'));
  await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('../..', import.meta.url)),
    ssr: {
      noExternal: true,
      external: ['better-sqlite3'],
      resolve: { conditions: ['ostler-source', 'node', 'import', 'default'] },
    },
    build: {
      ssr: fileURLToPath(new URL('mail-program.ts', import.meta.url)),
      outDir,
      target: 'node20',
      minify: false,
      rollupOptions: { output: { entryFileNames: 'mail-program.mjs' } },
    },
  });
  return {
    path: join(outDir, 'mail-program.mjs'),
    [Symbol.dispose]: () => rmSync(outDir, { recursive: true, force: true }),
  };
}
