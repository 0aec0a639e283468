/**
 * Every view of the extension compared with its reference screenshot, in light and dark, at three widths. The page is generated, its
 * figures are kept beside the pictures, and text is drawn as bars as long as it is in a packaged font: the edges of letters differ
 * between machines.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Prediction } from '@hopwise/contract';
import { predict } from '@hopwise/pageload-emulator';
import { expect, type Locator, type Page, test } from '@playwright/test';
import { CLUSTER } from '../../extension/test/evidence/stored-loads.ts';
import { type ExtensionBrowser, launch } from '../../extension/test/support/browser.ts';
import { largePage } from '../../extension/test/support/large-page.ts';
import { makePopupStates, openPopupState } from '../../extension/test/support/popup-states.ts';
import { putLoad, withSummary } from '../../extension/test/support/put-load.ts';
import { drawShare } from '../../scripts/suites/draw-share.ts';
import { PANEL_TABS, useFont } from './panel-views.ts';
import {
  answerWorker,
  collectAnswers,
  readViewFigures,
  type ViewFigures,
  writeViewFigures,
} from './view-figures.ts';

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
/** When views are shown: an hour after the recording. */
const NOW = new Date('2026-11-20T13:00:00Z');
/** Also what is below the window; until a view is drawn on a busy machine. */
const COMPARISON = { fullPage: true, timeout: 60_000 };
/** When pins end: more than an hour later. */
const PINS_END_MS = NOW.getTime() + 64 * 60_000;
let server: Server;
let browser: ExtensionBrowser;
/** The worker's answers; null until they are emulated anew. */
let figures: ViewFigures | null;
let prediction: Prediction;
/** The tab whose load popup and panel show. */
let tabId: number;
/** When that load was stored, by the real clock, which the worker goes by. */
let storedAt: Date;

test.beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const args = ['--lang=en-US', '--disable-lcd-text', '--force-color-profile=srgb'];
  browser = await launch(EXTENSION, args, [], { TZ: 'UTC', LANGUAGE: 'en' }, 'en-US', false);
  figures = readViewFigures(test.info().config.updateSnapshots);
  prediction = figures?.prediction ?? predict(largePage(REQUESTS), { waterfall: true });
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
  if (figures) await answerWorker(page, figures.answers);
  await page.goto(new URL(path, page.url()).href);
  await useFont(page, TEXT_AS_BARS);
  await page.locator(complete).first().waitFor();
  return page;
}

/** Marks the last row within the window, and the element there whose text is the narrowest. Runs in the page. */
function markSmallest(): void {
  const widthOf = (element: Element) => {
    const isText = (node: Node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim();
    const range = document.createRange();
    range.selectNodeContents(element);
    const { width, bottom } = range.getBoundingClientRect();
    const isShown = bottom <= innerHeight && element.checkVisibility({ visibilityProperty: true });
    return isShown && width > 0 && [...element.childNodes].some(isText) ? width : Number.POSITIVE_INFINITY;
  };
  const [narrowest] = [...document.querySelectorAll('body *')].sort((a, b) => widthOf(a) - widthOf(b));
  narrowest!.setAttribute('data-smallest', 'text');
  const rows = [...document.querySelectorAll('[role=tabpanel] :is(tr, [role=row])')];
  rows
    .findLast((row) => row.getBoundingClientRect().bottom <= innerHeight)
    ?.setAttribute('data-smallest', 'row');
}

/** Expects that a picture no longer fits without an element. */
async function expectMissed(page: Page, element: Locator, picture: string): Promise<void> {
  const shown = await element.evaluate((each) => each.outerHTML);
  await element.evaluate((each) => each.setAttribute('style', 'visibility: hidden !important'));
  await expect.soft(page, shown).not.toHaveScreenshot(picture, COMPARISON);
  await element.evaluate((each) => each.removeAttribute('style'));
}

async function compare(page: Page, name: string, widths = WIDTHS): Promise<void> {
  const pictures = widths.flatMap((width) =>
    COLOR_SCHEMES.map((colorScheme) => ({
      width,
      colorScheme,
      file: `${name}-${width}-${colorScheme}.png`,
    })),
  );
  for (const { width, colorScheme, file } of drawShare(pictures, 2, (picture) => picture.file)) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    await expect.soft(page).toHaveScreenshot(file, COMPARISON);
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

for (const name of drawShare(Object.keys(makePopupStates('en', PINS_END_MS)), 4)) {
  test(`the popup, ${name}`, async () => {
    const page = await openPopupState(browser, makePopupStates('en', PINS_END_MS, prediction)[name]!, NOW);
    await page.setViewportSize({ width: STATE_WIDTH, height: POPUP_HEIGHT });
    const isScrolled = () => document.documentElement.scrollHeight > document.documentElement.clientHeight;
    expect(await page.evaluate(isScrolled)).toBe(false);
    await useFont(page, TEXT_AS_BARS);
    await compare(page, `popup-${name}`, [STATE_WIDTH]);
    await page.close();
  });
}

test.describe('with a load', () => {
  test.beforeAll(async () => {
    const own = await browser.openOwn('devtools.html');
    const page = await browser.context.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    tabId = await browser.tabIdOf(own, page.url());
    const latest = () => browser.ask(own, { type: 'latest', tabId });
    await expect.poll(latest, { timeout: 60_000 }).toMatchObject({ ok: true, phase: 'recorded' });
    const answer = await latest();
    if (!answer.ok || !answer.load) throw new Error('nothing is recorded');
    const load = {
      ...answer.load,
      isDetailed: true,
      recording: largePage(REQUESTS),
      prediction,
      cluster: CLUSTER,
    };
    storedAt = new Date(load.storedAtMs);
    await own.evaluate(putLoad, withSummary(load));
    await own.close();
    if (figures) return;
    const panel = await browser.openOwn('devtools.html');
    const readAnswers = await collectAnswers(panel);
    await panel.goto(new URL(`panel.html?tabId=${tabId}`, panel.url()).href);
    for (const [id, complete] of PANEL_TABS) {
      await panel.locator(`#hw-tab-${id}`).click();
      await panel.locator(complete).first().waitFor();
    }
    await panel.close();
    figures = { prediction, answers: readAnswers() };
    writeViewFigures(figures);
  });

  test('the popup', async () => {
    const page = await open(`popup.html?tabId=${tabId}`, '.hw-headline');
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

  const openTab = async (id: string, complete: string) => {
    // The history reads the stored loads by itself, and leaves out those of another day.
    const now = id === 'history' ? storedAt : NOW;
    const page = await open(`panel.html?tabId=${tabId}`, '.hw-headline', now);
    await page.locator(`#hw-tab-${id}`).click();
    await page.locator(complete).first().waitFor();
    return page;
  };

  for (const [id, complete] of drawShare(PANEL_TABS, 4, ([id]) => `picture of ${id}`)) {
    test(`the panel’s tab ${id}`, async () => {
      const page = await openTab(id, complete);
      await compare(page, `panel-${id}`);
      await page.close();
    });
  }

  test('no row and no label can be missing from a picture', async () => {
    for (const [id, complete] of drawShare(PANEL_TABS, 1, ([id]) => `missing from ${id}`)) {
      const page = await openTab(id, complete);
      const [width] = WIDTHS.slice(-1);
      await page.setViewportSize({ width: width!, height: HEIGHT });
      await page.emulateMedia({ colorScheme: 'light' });
      const picture = `panel-${id}-${width}-light.png`;
      await expect(page).toHaveScreenshot(picture, COMPARISON);
      await page.evaluate(markSmallest);
      for (const element of await page.locator('[data-smallest]').all())
        await expectMissed(page, element, picture);
      await page.close();
    }
  });
});
