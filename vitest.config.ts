import { defineConfig } from 'vitest/config';

/**
 * Unit and integration tests of the TypeScript rooms. They run the sources, not `dist/`: the
 * `source` condition of each workspace's `exports` points there.
 *
 * A test that starts a browser, a server or the lab is named `*.integration.test.ts`: those run
 * one file at a time, as they take the time of what they do.
 */
const shared = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
};

export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          include: ['*/test/**/*.test.ts'],
          exclude: ['**/*.integration.test.ts', '**/node_modules/**'],
          testTimeout: 60_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'integration',
          include: ['*/test/**/*.integration.test.ts'],
          fileParallelism: false,
          // Limits for what hangs: a busy machine may be several times slower than a quiet one.
          testTimeout: 120_000,
          hookTimeout: 300_000,
          // A browser has a hiccup now and then; `npm test` says which tests had one.
          retry: 1,
        },
      },
    ],
  },
});
