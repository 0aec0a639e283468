import { defineConfig } from '@playwright/test';

/**
 * Whole-product tests. One at a time: they time page loads on an emulated link, and a second
 * browser beside them would be measured too.
 */
export default defineConfig({
  testDir: 'tests',
  workers: 1,
  fullyParallel: false,
  timeout: 180_000,
  reporter: 'list',
  forbidOnly: Boolean(process.env.CI),
});
