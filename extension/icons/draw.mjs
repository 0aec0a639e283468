/** Draws icon.svg into the sizes that browsers ask for. Run after a change to the drawing. */
import { readFile, writeFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';

const svg = await readFile(new URL('icon.svg', import.meta.url), 'utf8');
const browser = await chromium.launch({
  executablePath: process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  const page = await browser.newPage();
  for (const size of [16, 32, 48, 128]) {
    await page.setViewportSize({ width: size, height: size });
    await page.setContent(
      `<style>body{margin:0;background:none}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`,
    );
    await writeFile(new URL(`${size}.png`, import.meta.url), await page.screenshot({ omitBackground: true }));
  }
} finally {
  await browser.close();
}
