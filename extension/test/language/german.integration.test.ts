/** The extension in a browser whose user interface is German. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: ExtensionBrowser;

beforeAll(async () => {
  const built = fileURLToPath(new URL('../../dist/chromium', import.meta.url));
  browser = await launch(built, ['--lang=de'], [], { LANGUAGE: 'de' }, 'de-DE');
});

afterAll(() => browser?.close());

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

test('the options are German, and fit narrow windows without a violation', async () => {
  const options = await browser.openOwn('options.html');
  await options.getByRole('heading', { name: 'Sprache' }).waitFor();
  expect(await options.title()).toBe('hopwise-Einstellungen');
  expect(await options.evaluate(() => document.documentElement.lang)).toBe('de');
  expect(await options.evaluate(() => chrome.runtime.getManifest().description)).toContain('HTTP-Version');
  for (const width of [320, 400, 600]) {
    await options.setViewportSize({ width, height: 800 });
    const widths = await options.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    expect(widths[0], `${width} px`).toBe(widths[1]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await options.emulateMedia({ colorScheme });
      expect(await violationsOf(options), `${width} px, ${colorScheme}`).toEqual([]);
    }
  }
});

test('a choice in the options takes precedence over the language of the browser', async () => {
  const options = await browser.openOwn('options.html');
  await options.getByLabel('Sprache dieser Seite').selectOption('English');
  await options.getByRole('heading', { name: 'hopwise options' }).waitFor();
  expect(await options.evaluate(() => document.documentElement.lang)).toBe('en');
  await options.getByLabel('Language of this page').selectOption('as in the browser');
  await options.getByRole('heading', { name: 'hopwise-Einstellungen' }).waitFor();
});
