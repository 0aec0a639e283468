import { defineConfig } from '@playwright/test';

/** Tests that compare times of page loads: a browser beside theirs would change them. */
const ALONE = '**/*.alone.spec.ts';
/** Tests that are long by nature, or repeat on other networks what shorter ones test: `npm run test:long` runs them. */
const LONG = '**/*.long.spec.ts';

/** Whole-product tests. `npm test` runs those that may run side by side, and then the others. */
export default defineConfig({
  testDir: 'specs',
  workers: 3,
  projects: [
    { name: 'together', testIgnore: [ALONE, LONG], fullyParallel: true },
    { name: 'alone', testMatch: ALONE, workers: 1 },
    { name: 'long', testMatch: LONG, workers: 1 },
  ],
  // A limit for what hangs: a busy machine may be several times slower than a quiet one.
  timeout: 300_000,
  snapshotPathTemplate: '{testDir}/screenshots/{arg}{ext}',
  // Edges of letters and lines differ a little between processors.
  expect: { toHaveScreenshot: { threshold: 0.2, maxDiffPixelRatio: 0.01 } },
  reporter: 'list',
  forbidOnly: Boolean(process.env.CI),
});
