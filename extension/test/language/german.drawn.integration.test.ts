/** The extension in a browser whose user interface is German. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { AXE, listViolations } from '../support/axe.ts';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import { largePage } from '../support/large-page.ts';
import { openWithLoad } from '../support/open-with-load.ts';
import { type Site, startSite } from '../support/site.ts';

const REQUESTS = 30;
/** Widths of windows, in CSS pixels. */
const WIDTHS = [320, 400, 600];
/** What axe checks each view in. */
const LOOKS = WIDTHS.flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

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

async function expectToFit(page: Page, view: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const widths = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    // Less where the page is short and leaves the scrollbar's gutter free.
    expect(widths[0], `${width} px`).toBeLessThanOrEqual(widths[1]!);
  }
  await page.evaluate(AXE);
  const nameOf = ({ width, colorScheme }: (typeof LOOKS)[number]) => `${view}, ${width} px, ${colorScheme}`;
  for (const look of drawShare(LOOKS, 1, nameOf)) {
    await page.setViewportSize({ width: look.width, height: 800 });
    await page.emulateMedia({ colorScheme: look.colorScheme });
    expect(await page.evaluate(listViolations), nameOf(look)).toEqual([]);
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
  await expectToFit(page, path);
});

test('the browser describes the extension in German', async () => {
  const page = await browser.openOwn('options.html');
  expect(await page.evaluate(() => chrome.runtime.getManifest().description)).toContain('HTTP-Version');
});

/** Words that no German sentence has. */
const ENGLISH = /\b(the|and|with|of|is|on|by|requests?|origins?|packets?|show|all|document|script|image)\b/i;

test('the popup is German, also what it says of a load', async () => {
  const popup = await openWithLoad(browser, `${site.url}/kept.html`, largePage(REQUESTS), 'popup.html');
  expect(await popup.evaluate(() => document.documentElement.lang)).toBe('de');
  expect(await popup.getByRole('heading', { level: 2 }).first().innerText()).not.toMatch(ENGLISH);
  await popup.locator('#details > summary').click();
  expect(await popup.locator('body').innerText()).not.toMatch(ENGLISH);
  await expectToFit(popup, 'popup');
});

test('the worker refuses in German what it cannot do', async () => {
  const own = await browser.openOwn('options.html');
  expect(await browser.ask(own, { type: 'verify', url: 'https://never.test/' })).toEqual({
    ok: false,
    error: 'Von dieser Seite ist kein Ladevorgang aufgezeichnet.',
  });
  const pins = [{ origin: 'https://localhost', kind: 'avoid-h3' as const }];
  expect(await browser.ask(own, { type: 'pin', pins, minutes: null, persistent: false })).toEqual({
    ok: false,
    error:
      'Dieser Ursprung liegt auf diesem Computer oder in diesem Netz. Festlegen lässt er sich nur in der Kommandozeile, mit --allow-local.',
  });
  await own.close();
});

test('every tab of the panel is German', async () => {
  const panel = await openWithLoad(browser, `${site.url}/kept.html`, largePage(REQUESTS), 'panel.html');
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
    // Where all tabs fit beside each other: else some are in a menu.
    await panel.setViewportSize({ width: 1280, height: 800 });
    await panel.getByRole('tab', { name, exact: true }).click();
    const text = () => panel.locator('body').innerText();
    await expect.poll(text).not.toMatch(/(angeordnet|emuliert|gelesen) …|werden erprobt/);
    expect.soft(await text(), name).not.toMatch(ENGLISH);
    await expectToFit(panel, name);
  }
});

test('the panel says in German that an opened file cannot be predicted', async () => {
  const endless = largePage(300);
  for (const request of endless.requests) {
    request.transferBytes = 50e6;
    request.bodyBytes = 50e6;
    request.endMs += 200_000;
  }
  endless.pltMs! += 200_000;
  const panel = await openWithLoad(browser, `${site.url}/kept.html`, largePage(REQUESTS), 'panel.html');
  await panel
    .getByLabel('Zu öffnende Aufzeichnung')
    .setInputFiles({ name: 'endless.json', mimeType: '', buffer: Buffer.from(JSON.stringify(endless)) });
  await panel
    .getByText(
      /^Dieser Ladevorgang wurde aufgezeichnet, ließ sich aber nicht vorhersagen: die Seite lädt in diesem Netz nicht: kein Load-Event nach \d+ s\.$/,
    )
    .waitFor();
});

test('a choice in the options takes precedence over the language of the browser', async () => {
  const options = await browser.openOwn('options.html');
  await options.getByRole('combobox', { name: 'Sprache' }).selectOption('English');
  await options.getByRole('heading', { name: 'hopwise options' }).waitFor();
  expect(await options.evaluate(() => document.documentElement.lang)).toBe('en');
  await options.getByRole('combobox', { name: 'Language' }).selectOption('as in the browser');
  await options.getByRole('heading', { name: 'hopwise-Einstellungen' }).waitFor();
});
