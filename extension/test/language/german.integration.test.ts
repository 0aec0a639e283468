/** The extension in a browser whose user interface is German. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../browser.ts';
import { largePage } from '../large-page.ts';
import { openWithLoad } from '../open-with-load.ts';
import { type Site, startSite } from '../site.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const REQUESTS = 60;

let site: Site;
let browser: ExtensionBrowser;

beforeAll(async () => {
  site = await startSite();
  const built = fileURLToPath(new URL('../../dist/chromium', import.meta.url));
  browser = await launch(built, ['--lang=de'], [], { LANGUAGE: 'de' }, 'de-DE');
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

async function expectToFit(page: Page): Promise<void> {
  for (const width of [320, 400, 600]) {
    await page.setViewportSize({ width, height: 800 });
    const widths = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    // Less where the page is short and leaves the scrollbar's gutter free.
    expect(widths[0], `${width} px`).toBeLessThanOrEqual(widths[1]!);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page), `${width} px, ${colorScheme}`).toEqual([]);
    }
  }
}

test.each([
  ['options.html', 'hopwise-Einstellungen'],
  ['welcome.html', 'Erste Schritte mit hopwise'],
])('%s is German, and fits narrow windows without a violation', async (path, title) => {
  const page = await browser.openOwn(path);
  await page.getByRole('heading', { name: title }).waitFor();
  expect(await page.title()).toBe(title);
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
  if (path === 'welcome.html') await page.getByText('Das Hilfsprogramm ist nicht installiert.').waitFor();
  await expectToFit(page);
});

test('the browser describes the extension in German', async () => {
  const page = await browser.openOwn('options.html');
  expect(await page.evaluate(() => chrome.runtime.getManifest().description)).toContain('HTTP-Version');
});

/** Words that no German sentence has. */
const ENGLISH = /\b(the|and|with|of|is|on|by|requests?|origins?|packets?|show|all)\b/i;

test('the popup is German, also what it says of a load', async () => {
  const popup = await openWithLoad(browser, `${site.url}/`, largePage(REQUESTS), 'popup.html');
  expect(await popup.evaluate(() => document.documentElement.lang)).toBe('de');
  expect(await popup.getByRole('heading', { level: 2 }).first().innerText()).not.toMatch(ENGLISH);
  expect(await popup.locator('body').innerText()).not.toMatch(ENGLISH);
  await expectToFit(popup);
});

test('every tab of the panel is German', async () => {
  const panel = await openWithLoad(browser, `${site.url}/`, largePage(REQUESTS), 'panel.html');
  expect(await panel.evaluate(() => document.documentElement.lang)).toBe('de');
  const names = [
    'Überblick',
    'Ursprünge',
    'Wasserfall',
    'Verbindungen',
    'Graph',
    'Was wäre, wenn',
    'Server',
    'Verlauf',
  ];
  expect(await panel.getByRole('tab').allInnerTexts()).toEqual(names);
  for (const name of names) {
    await panel.getByRole('tab', { name, exact: true }).click();
    const text = () => panel.locator('body').innerText();
    await expect
      .poll(text, { timeout: 30_000 })
      .not.toMatch(/(angeordnet|emuliert|gelesen) …|werden erprobt/);
    expect.soft(await text(), name).not.toMatch(ENGLISH);
    await expectToFit(panel);
  }
});

test('a choice in the options takes precedence over the language of the browser', async () => {
  const options = await browser.openOwn('options.html');
  await options.getByLabel('Sprache').selectOption('English');
  await options.getByRole('heading', { name: 'hopwise options' }).waitFor();
  expect(await options.evaluate(() => document.documentElement.lang)).toBe('en');
  await options.getByLabel('Language').selectOption('as in the browser');
  await options.getByRole('heading', { name: 'hopwise-Einstellungen' }).waitFor();
});
