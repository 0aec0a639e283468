/**
 * Renews the pictures in `docs/` from `out/report.html`, light and dark: run `npm start` first.
 *
 *   node scripts/screenshots.mjs
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { chromiumPath } from './setup/debian.mjs';
import { ROOT } from './setup/programs.mjs';

const report = join(ROOT, 'out', 'report.html');
if (!existsSync(report)) {
  console.error('hopwise: out/report.html is not there: run npm start first');
  process.exit(1);
}
const browser = await chromium.launch({
  executablePath: chromiumPath() ?? undefined,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width: 1180, height: 1320 }, colorScheme });
    await page.goto(pathToFileURL(report).href);
    await page.locator('svg').first().waitFor();
    const path = join(ROOT, 'docs', `report-${colorScheme}.png`);
    await page.screenshot({ path });
    console.log(path);
    await page.close();
  }
} finally {
  await browser.close();
}
