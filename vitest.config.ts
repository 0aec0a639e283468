import { defineConfig } from 'vitest/config';

/**
 * Unit and integration tests of the TypeScript rooms. They run the sources, not `dist/`: the
 * `source` condition of each workspace's `exports` points there.
 *
 * A test that starts a browser, a server or the lab is named `*.integration.test.ts`. Those that a neighbour would
 * spoil, or that would spoil it, are named `*.alone.integration.test.ts`: they run after all others, one file at a time.
 */
const shared = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
};

const integration = {
  // Limits for what hangs: a busy machine may be several times slower than a quiet one.
  testTimeout: 120_000,
  hookTimeout: 300_000,
  // A browser has a hiccup now and then; `npm test` says which tests had one.
  retry: 1,
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
          maxWorkers: '100%',
        },
      },
      {
        ...shared,
        test: {
          ...integration,
          name: 'integration',
          include: ['*/test/**/*.integration.test.ts'],
          exclude: ['**/*.alone.integration.test.ts', '**/node_modules/**'],
          globalSetup: ['./extension/test/build-once.ts', './native-host/test/support/find-libcurl.ts'],
          // They mostly wait for browsers and links, which run beside them.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          ...integration,
          name: 'alone',
          include: ['*/test/**/*.alone.integration.test.ts'],
          globalSetup: ['./native-host/test/support/find-libcurl.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
