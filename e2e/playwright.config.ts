import { defineConfig } from '@playwright/test';

/**
 * Whole-product tests. One at a time: they time page loads on an emulated link, and a second
 * browser beside them would be measured too.
 */
export default defineConfig({
  testDir: 'tests',
  workers: 1,
  fullyParallel: false,
  // A limit for what hangs: a busy machine may be several times slower than a quiet one.
  timeout: 300_000,
  // A browser has a hiccup now and then; `npm test` says which tests had one.
  retries: 1,
  reporter: 'list',
  forbidOnly: Boolean(process.env.CI),
});
