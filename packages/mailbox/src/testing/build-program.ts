import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export interface Program extends Disposable {
  /** The bundle of `mail-program.ts`, for `node`. */
  readonly path: string;
  /** That of `raw-speaker.ts`. */
  readonly rawPath: string;
}

/** Bundles the other processes for a plain `node`, at a place from where native modules resolve. */
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
      ssr: true,
      outDir,
      target: 'node20',
      minify: false,
      rollupOptions: {
        input: [
          fileURLToPath(new URL('mail-program.ts', import.meta.url)),
          fileURLToPath(new URL('raw-speaker.ts', import.meta.url)),
        ],
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  });
  return {
    path: join(outDir, 'mail-program.mjs'),
    rawPath: join(outDir, 'raw-speaker.mjs'),
    [Symbol.dispose]: () => rmSync(outDir, { recursive: true, force: true }),
  };
}
