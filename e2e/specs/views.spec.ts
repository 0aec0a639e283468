/**
 * Every view of the extension compared with its reference screenshot, in light and dark, at three widths. The data is generated,
 * and text is drawn as bars as long as it is in a packaged font: the edges of letters differ between machines.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { predict } from '@hopwise/pageload-emulator';
import { expect, type Page, test } from '@playwright/test';
import { type ExtensionBrowser, launch } from '../../extension/test/support/browser.ts';
import { largePage } from '../../extension/test/support/large-page.ts';
import { makePopupStates, openPopupState } from '../../extension/test/support/popup-states.ts';
import { putLoad, withSummary } from '../../extension/test/support/put-load.ts';
import { PANEL_TABS, useFont } from './panel-views.ts';

// One browser for all.
test.describe.configure({ mode: 'default' });

const EXTENSION = fileURLToPath(new URL('../../extension/dist/chromium', import.meta.url));
const REQUESTS = 60;
const WIDTHS = [320, 600, 1240];
const HEIGHT = 700;
const COLOR_SCHEMES = ['light', 'dark'] as const;
/** The largest popup that browsers show. */
const POPUP_HEIGHT = 600;
/** The width at which the states of the popup are compared; it is never wider. */
const STATE_WIDTH = 400;
/** When the states of the popup are shown. */
const NOW = new Date('2026-11-20T13:00:00Z');
/** When pins end: more than an hour later. */
const PINS_END_MS = NOW.getTime() + 64 * 60_000;
let server: Server;
let browser: ExtensionBrowser;
/** The tab whose load popup and panel show. */
let tabId: number;

test.beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const args = ['--lang=en-US', '--disable-lcd-text', '--force-color-profile=srgb'];
  browser = await launch(EXTENSION, args, [], { TZ: 'UTC', LANGUAGE: 'en' }, 'en-US', false);
});

test.afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

/** Style sheet that draws all text as bars, as long as it is. */
const TEXT_AS_BARS = `
  body :not(svg *), ::placeholder {
    -webkit-text-fill-color: transparent !important;
    text-decoration: underline 0.5em gray !important;
    text-underline-offset: -0.45em !important;
    text-decoration-skip-ink: none !important;
  }`;

/** Opens a page of the extension at a time that stands still. */
async function open(path: string, complete: string, now = NOW): Promise<Page> {
  const page = (await browser.openOwn('devtools.html')) as Page;
  await page.clock.setFixedTime(now);
  await page.goto(new URL(path, page.url()).href);
  await useFont(page, TEXT_AS_BARS);
  await page.locator(complete).first().waitFor();
  return page;
}

async function compare(page: Page, name: string, widths = WIDTHS): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await expect.soft(page).toHaveScreenshot(`${name}-${width}-${colorScheme}.png`);
    }
  }
}

test('the first page', async () => {
  const page = await open('welcome.html', '.hw-steps:not([hidden])');
  await compare(page, 'welcome');
  await page.close();
});

test('the options', async () => {
  const page = await open('options.html', '.hw-figures dd');
  await compare(page, 'options');
  await page.close();
});

for (const [name, state] of Object.entries(makePopupStates('en', PINS_END_MS))) {
  test(`the popup, ${name}`, async () => {
    const page = await openPopupState(browser, state, NOW);
    await page.setViewportSize({ width: STATE_WIDTH, height: POPUP_HEIGHT });
    const isScrolled = () => document.documentElement.scrollHeight > document.documentElement.clientHeight;
    expect(await page.evaluate(isScrolled)).toBe(false);
    await useFont(page, TEXT_AS_BARS);
    await compare(page, `popup-${name}`, [STATE_WIDTH]);
    await page.close();
  });
}

test.describe('with a load', () => {
  /** An hour after the recording. */
  const shownAt = new Date();

  test.beforeAll(async () => {
    const own = await browser.openOwn('devtools.html');
    const page = await browser.context.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    tabId = await browser.tabIdOf(own, page.url());
    const latest = () => browser.ask(own, { type: 'latest', tabId });
    await expect.poll(latest, { timeout: 30_000 }).toMatchObject({ ok: true, phase: 'recorded' });
    const answer = await latest();
    if (!answer.ok || !answer.load) throw new Error('nothing is recorded');
    // The worker, whose clock goes on, forgets older ones.
    const recordedAt = new Date(shownAt.getTime() - 3_600_000).toISOString();
    const recording = { ...largePage(REQUESTS), recordedAt };
    const prediction = predict(recording, { waterfall: true });
    await own.evaluate(putLoad, withSummary({ ...answer.load, isDetailed: true, recording, prediction }));
    await own.close();
  });

  test('the popup', async () => {
    const page = await open(`popup.html?tabId=${tabId}`, '.hw-headline', shownAt);
    await compare(page, 'popup');
    await page.close();
  });

  test('the popup without a load', async () => {
    const other = await browser.openOwn('devtools.html');
    const otherId = await other.evaluate(async () => (await chrome.tabs.getCurrent())!.id!);
    const page = await open(`popup.html?tabId=${otherId}`, '#content .hw-empty');
    await compare(page, 'popup-empty');
    await page.close();
    await other.close();
  });

  for (const [id, complete] of PANEL_TABS) {
    test(`the panel’s tab ${id}`, async () => {
      const page = await open(`panel.html?tabId=${tabId}`, '.hw-headline', shownAt);
      await page.locator(`#hw-tab-${id}`).click();
      await page.locator(complete).first().waitFor();
      await compare(page, `panel-${id}`);
      await page.close();
    });
  }
});
