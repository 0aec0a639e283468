import { defineConfig } from 'vitest/config';
import { LEFT_OUT_VARIABLE } from './scripts/suites/draw-share.ts';

/**
 * Unit and integration tests of the TypeScript packages. They run the sources, not `dist/`: the `source` condition of each
 * package's `exports` points there.
 *
 * A test that starts a browser, a server or the lab is named `*.integration.test.ts`. Tests that mostly wait, and measure what
 * much other work changes, are named `*.quiet.integration.test.ts`: they run after the others, two files at a time. Those that
 * measure what any other work changes, or that take the whole machine, are named `*.alone.integration.test.ts`: they run after
 * these, one file at a time. What takes long by nature is named `*.long.integration.test.ts` and runs in `npm run test:long` only.
 * Of the files with `.drawn` in their names `npm test` runs a sixth.
 */
const shared = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
};

const leftOut = (process.env[LEFT_OUT_VARIABLE] ?? '').split(':').filter(Boolean);

const unit = {
  exclude: ['**/*.integration.test.ts', '**/node_modules/**'],
  testTimeout: 120_000,
  setupFiles: ['./scripts/suites/random-cases.ts'],
  maxWorkers: '100%',
};

const integration = {
  // Limits for what hangs: a busy machine may be several times slower than a quiet one.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  setupFiles: ['./scripts/suites/processor-time.ts'],
};

export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          ...unit,
          name: 'unit',
          include: ['*/test/**/*.test.ts'],
          exclude: [...unit.exclude, 'extension/**'],
          // Files of one worker share what they import, which most of them have in common.
          isolate: false,
        },
      },
      {
        ...shared,
        // These files put their own browser's API and database into the global scope.
        test: {
          ...unit,
          name: 'unit-extension',
          include: ['extension/test/**/*.test.ts'],
          isolate: false,
          setupFiles: [...unit.setupFiles, './extension/test/support/fresh-start.ts'],
        },
      },
      {
        ...shared,
        test: {
          ...integration,
          name: 'integration',
          include: ['*/test/**/*.integration.test.ts'],
          exclude: [
            '**/*.{quiet,alone}.integration.test.ts',
            '**/*.long.integration.test.ts',
            '**/node_modules/**',
            ...leftOut,
          ],
          globalSetup: [
            './extension/test/support/build-once.ts',
            './native-host/test/support/find-libcurl.ts',
          ],
          // They also wait: for time limits, emulated links and pages. A fourth would not end sooner on two cores, which three keep busy.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          ...integration,
          name: 'quiet',
          include: ['*/test/**/*.quiet.integration.test.ts'],
          exclude: ['**/node_modules/**', ...leftOut],
          globalSetup: ['./native-host/test/support/find-libcurl.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
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
          sequence: { groupOrder: 3 },
        },
      },
      {
        ...shared,
        test: {
          ...integration,
          name: 'long',
          include: ['*/test/**/*.long.integration.test.ts'],
          globalSetup: ['./native-host/test/support/find-libcurl.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
