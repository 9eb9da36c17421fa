import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { expect, test } from 'vitest';

test('the root loads and digests where nothing of Node is', { timeout: 30_000 }, async () => {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('..', import.meta.url)),
    resolve: { conditions: ['ostler-source', 'browser', 'import', 'default'] },
    build: {
      write: false,
      minify: false,
      lib: {
        entry: fileURLToPath(new URL('index.ts', import.meta.url)),
        formats: ['iife'],
        name: 'protocol',
      },
    },
  });
  const [bundle] = Array.isArray(built) ? built : [];
  const code = bundle?.output[0].code ?? '';
  expect(code).not.toMatch(/__vite-browser-external|require\(/);
  const context = createContext({ TextEncoder, URL });
  runInContext(code, context);
  const digest: unknown = runInContext(
    `protocol.intentDigest(protocol.parseRequest({ type: 'receipt.get',
      requestId: '00000000-0000-4000-8000-000000000001', idempotencyKey: 'k' }).request)`,
    context,
  );
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
});
