import { defineConfig } from '@playwright/test';

/** Tests that are long by nature, or repeat on other networks what shorter ones test: `npm run test:long` runs them. */
const LONG = '**/*.long.spec.ts';

/** Whole-product tests. */
export default defineConfig({
  testDir: 'specs',
  workers: 3,
  projects: [
    { name: 'together', testIgnore: LONG, fullyParallel: true },
    { name: 'long', testMatch: LONG, workers: 1 },
  ],
  // Limits for what hangs: a busy machine may be several times slower than a quiet one.
  timeout: 300_000,
  snapshotPathTemplate: '{testDir}/screenshots/{arg}{ext}',
  // Edges of letters and lines differ a little between processors, in colour; the narrowest label, a digit, covers 40 pixels.
  expect: { timeout: 60_000, toHaveScreenshot: { threshold: 0.2, maxDiffPixels: 15 } },
  reporter: 'list',
  forbidOnly: Boolean(process.env.CI),
});
