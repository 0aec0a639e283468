import { defineConfig } from '@playwright/test';

/** Tests that time page loads on an emulated link: a browser beside theirs would be measured too. */
const ALONE = '**/*.alone.spec.ts';

/** Whole-product tests. `npm test` runs those that go together two at a time, and then the others. */
export default defineConfig({
  testDir: 'specs',
  workers: 1,
  projects: [
    { name: 'together', testIgnore: ALONE, fullyParallel: true },
    { name: 'alone', testMatch: ALONE, fullyParallel: false },
  ],
  // A limit for what hangs: a busy machine may be several times slower than a quiet one.
  timeout: 300_000,
  // A browser has a hiccup now and then; `npm test` says which tests had one.
  retries: 1,
  reporter: 'list',
  forbidOnly: Boolean(process.env.CI),
});
