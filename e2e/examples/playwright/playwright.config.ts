import type { ReplayOptions } from '@hopwise/e2e/playwright';
import { defineConfig } from '@playwright/test';

export default defineConfig<ReplayOptions>({
  testDir: 'tests',
  // Loads are timed: nothing else may run beside them.
  workers: 1,
  // Other work on a CI machine can spoil a load.
  retries: 1,
  reporter: [['list'], ['html', { open: 'never' }]],
  use: {
    replay: { page: 'pages/app.json.gz', network: 'cable' },
  },
});
