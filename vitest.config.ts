import { defineConfig } from 'vitest/config';

/**
 * Unit and integration tests of the TypeScript rooms. They run the sources, not `dist/`: the
 * `source` condition of each workspace's `exports` points there.
 */
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
  test: {
    include: ['*/test/**/*.test.ts'],
    testTimeout: 20_000,
  },
});
