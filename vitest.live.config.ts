import { defineConfig } from 'vitest/config';

// Real engines, offline, against the scripted model: one file at a time, since each owns terminals of its own.
export default defineConfig({
  resolve: { conditions: ['ostler-source'] },
  ssr: { resolve: { conditions: ['ostler-source', 'node', 'import', 'default'] } },
  test: {
    // Real programs on a busy machine: a second try is allowed, and printed as one.
    retry: 1,
    include: ['packages/*/live/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
