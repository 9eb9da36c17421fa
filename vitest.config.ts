import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Tests run from the sources: nothing has to be built first, and nothing stale can be tested.
  resolve: { conditions: ['ostler-source'] },
  ssr: { resolve: { conditions: ['ostler-source', 'node', 'import', 'default'] } },
  test: {
    setupFiles: ['tools/property-seed.mjs'],
    include: ['packages/*/src/**/*.test.ts', 'tools/*.test.mjs'],
    // A limit for hangs, not a measure: real terminals share the machine with other work.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', 'packages/*/src/**/testing/**'],
      reporter: ['text-summary', 'html'],
      reportsDirectory: 'coverage',
    },
  },
});
