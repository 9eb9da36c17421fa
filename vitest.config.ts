import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['ostler-source'] },
  ssr: { resolve: { conditions: ['ostler-source', 'node', 'import', 'default'] } },
  test: { include: ['packages/*/src/**/*.test.ts'], testTimeout: 10_000 },
});
