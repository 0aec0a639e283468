/**
 * Renews the stores' screenshots in `docs/store/` from the built extension in Chromium, light and dark:
 *
 *   node scripts/store-screenshots.ts
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXTENSION_ID } from '@hopwise/contract';
import { chromium } from 'playwright-core';
import { chromiumPath } from './setup-steps.mjs';

const ROOT = join(import.meta.dirname, '..');
const EXTENSION = join(ROOT, 'extension/dist/chromium');
const TARGET = join(ROOT, 'docs/store');
/** Chrome's store asks for this size. */
const VIEWPORT = { width: 1280, height: 800 };
const PAGES = ['welcome', 'options'];

const profile = mkdtempSync(join(tmpdir(), 'hopwise-store-'));
mkdirSync(TARGET, { recursive: true });
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: chromiumPath() ?? undefined,
  headless: false,
  viewport: VIEWPORT,
  ignoreDefaultArgs: ['--disable-extensions'],
  args: [
    '--headless=new',
    `--disable-extensions-except=${EXTENSION}`,
    `--load-extension=${EXTENSION}`,
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
});
try {
  const page = await browser.newPage();
  for (const name of PAGES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`chrome-extension://${EXTENSION_ID}/${name}.html`);
      await page.locator('main > section').first().waitFor();
      // The welcome page looks for the helper first.
      await page.getByText('Looking for the helper').waitFor({ state: 'detached' });
      const path = join(TARGET, `${name}-${colorScheme}.png`);
      await page.screenshot({ path });
      console.log(path);
    }
  }
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
