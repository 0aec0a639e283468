/** Every page of the extension, in every state that a click reaches, checked by axe in light or dark, and reached by the Tab key. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../scripts/suites/draw-share.ts';
import type { AutopilotRun } from '../src/autopilot/runs/autopilot-run.ts';
import { AXE, listViolations } from './support/axe.ts';
import { type ExtensionBrowser, launch } from './support/browser.ts';
import { largePage } from './support/large-page.ts';
import { openWithLoad } from './support/open-with-load.ts';
import { setOwnItems } from './support/own-items.ts';
import { type Site, startSite } from './support/site.ts';
import { walkByTab } from './support/tab-walk.ts';

const REQUESTS = 40;

/** What the autopilot did, as its log has it. */
const ACT: AutopilotRun = {
  id: '1',
  madeAtMs: Date.now(),
  pageUrl: 'https://page.test/',
  trigger: 'decision',
  pins: [{ origin: 'https://page.test', kind: 'avoid-h3' }],
  predicted: { beforeMs: 4300, afterMs: 2300 },
  beforeMs: [4280],
  afterMs: [],
  lastLoadId: 1,
  state: 'checking',
  end: null,
};

/** What trials showed on two networks, as the explorer stores it. */
const CLUSTER = {
  loads: 2,
  arms: { leave: [{ relative: 1, at: 0 }], 'avoid-h3 h2': [{ relative: 0.5, at: 1 }] },
  surprises: [],
  refuted: false,
  trials: 0,
  totalMs: 6300,
  spentMs: 0,
};
const EXPERIENCE = {
  scales: [
    ['internet https://page.test/', 4200],
    ['local https://nas.page.test/with/a/long/path', 900],
  ],
  clusters: {
    internet: CLUSTER,
    'internet https://page.test/': CLUSTER,
    'local https://nas.page.test/with/a/long/path': CLUSTER,
  },
};

let site: Site;
let browser: ExtensionBrowser;

beforeAll(async () => {
  site = await startSite();
  browser = await launch(fileURLToPath(new URL('../dist/chromium', import.meta.url)));
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function expectNone(page: Page, state: string): Promise<void> {
  await page.evaluate(AXE);
  const schemes = ['light', 'dark'] as const;
  for (const colorScheme of drawShare(schemes, 1, (scheme) => `${state}, ${scheme}`)) {
    await page.emulateMedia({ colorScheme });
    expect.soft(await page.evaluate(listViolations), `${state}, ${colorScheme}`).toEqual([]);
  }
  const walk = await walkByTab({
    evaluate: (what) => page.evaluate(what),
    press: (key) => page.keyboard.press(key),
  });
  expect.soft(walk, `${state}, by Tab`).toEqual({ unreached: [], unmarked: [] });
}

const open = (path: 'panel.html' | 'popup.html') =>
  openWithLoad(browser, `${site.url}/kept.html`, largePage(REQUESTS), path);

test('the popup has no violation', async () => {
  const popup = await open('popup.html');
  await expectNone(popup, 'popup');
  await popup.locator('#details > summary').click();
  await expectNone(popup, 'popup with details');
});

test('no tab of the panel has a violation', async () => {
  const panel = await open('panel.html');
  const names = ['Overview', 'Origins', 'Waterfall', 'Connections', 'Graph', 'What if', 'Servers', 'History'];
  for (const name of names) {
    await panel.getByRole('tab', { name }).click();
    if (name === 'Waterfall') await panel.getByRole('button', { name: /^1\.js/ }).click();
    if (name === 'Connections') await panel.getByRole('table', { name: 'Connections' }).waitFor();
    if (name === 'What if') await panel.locator('.hw-what-if-map [aria-label="cell"]').first().waitFor();
    if (name === 'Servers') {
      await panel.getByRole('checkbox', { name: /^Also changes/ }).check();
      await panel.locator('.hw-changes details').first().click();
    }
    if (name === 'Graph') await panel.locator('.hw-critical-step').first().waitFor();
    if (name === 'History') await panel.getByText(/loads? of this page/).waitFor();
    await expectNone(panel, name);
  }
});

/** Background of the first element that the selector matches, and the canvas's, as they are shown. */
const readBackgrounds = (page: Page, selector: string) =>
  page.evaluate((selector) => {
    const colorOf = (element: Element) => getComputedStyle(element).backgroundColor;
    const canvas = document.createElement('div');
    canvas.style.background = 'Canvas';
    document.body.append(canvas);
    return { own: colorOf(document.querySelector(selector)!), canvas: colorOf(canvas) };
  }, selector);

test('in forced colours bars, the waterfall and the selected tab are still to be seen', async () => {
  const popup = await open('popup.html');
  await popup.emulateMedia({ forcedColors: 'active' });
  const bar = await readBackgrounds(popup, '.hw-load-bar');
  expect(bar.own).not.toBe(bar.canvas);
  const panel = await open('panel.html');
  await panel.emulateMedia({ forcedColors: 'active' });
  await panel.getByRole('tab', { name: 'Waterfall' }).click();
  await panel.locator('.hw-phase').first().waitFor();
  const phase = await readBackgrounds(panel, '.hw-phase');
  expect(phase.own).not.toBe(phase.canvas);
  const lines = await panel
    .getByRole('tab')
    .evaluateAll((tabs) => tabs.map((tab) => getComputedStyle(tab).borderBottomColor));
  expect(new Set(lines).size).toBe(2);
});

test('neither the export menu nor an opened file has a violation', async () => {
  const panel = await open('panel.html');
  await panel.getByText('Export', { exact: true }).press('Enter');
  await panel.getByRole('button', { name: 'HAR' }).waitFor();
  await expectNone(panel, 'export menu');
  await panel.keyboard.press('Escape');
  const content = Buffer.from(JSON.stringify(largePage(REQUESTS)));
  await panel
    .getByLabel('Recording to open')
    .setInputFiles({ name: 'page.json', mimeType: 'application/json', buffer: content });
  await panel.getByRole('region', { name: 'Opened file' }).waitFor();
  await expectNone(panel, 'opened file');
});

test('the options page has no violation, with and without something to list, and fits 320 px', async () => {
  const options = await browser.openOwn('options.html');
  await options.getByRole('heading', { name: 'The helper' }).waitFor();
  await expectNone(options, 'options');
  await options.evaluate(setOwnItems, {
    'autopilot-log': [ACT, { ...ACT, id: '2', state: 'kept', afterMs: [2340] }],
    autopilot: {
      isOn: true,
      siteRules: [{ site: 'page.test', rule: 'avoid-h3' }],
      trafficRules: [{ traffic: 'media', network: 'long-delay', rule: 'h2' }],
    },
  });
  await options.evaluate((experience) => chrome.storage.session.set(experience), {
    'autopilot-explorer': { ...EXPERIENCE, usedAtMs: Date.now() },
  });
  await options.evaluate(setOwnItems, {
    [`autopilot-explorer:${'k'.repeat(22)}`]: { ...EXPERIENCE, usedAtMs: Date.now() },
  });
  await options.reload();
  await options.getByText('page.test: always avoid HTTP/3').waitFor();
  await options.getByText('Without HTTP/3: 2.1 s (1 load)').first().waitFor();
  await options.getByText(/^The internet, on another network \(last used /).waitFor();
  await options
    .getByText('audio and video on networks of long delay (from 500 ms): hold to HTTP/2')
    .waitFor();
  await options.getByLabel('Only where it saves at least').fill('99');
  await options.keyboard.press('Tab');
  await options.getByText('Expected a number from 5 to 90.').waitFor();
  await options.getByRole('button', { name: 'Check the helper' }).click();
  await options.getByText('The helper is not installed.').waitFor();
  await expectNone(options, 'options with a log');
  await options.setViewportSize({ width: 320, height: 700 });
  const widths = await options.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  expect(widths[0]).toBe(widths[1]);
});

test.each([
  ['options.html', 'What is stored'],
  ['welcome.html', 'The helper'],
])('%s fits into 320 px without a violation', async (path, heading) => {
  const own = await browser.openOwn(path);
  await own.setViewportSize({ width: 320, height: 700 });
  await own.getByRole('heading', { name: heading }).waitFor();
  await own.getByText('Looking for the helper').waitFor({ state: 'detached' });
  const isTooWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth;
  expect(await own.evaluate(isTooWide)).toBe(false);
  await expectNone(own, `${path} at 320 px`);
});

test('the first page has no violation without the helper', async () => {
  const welcome = await browser.openOwn('welcome.html');
  await welcome.getByText('The helper is not installed.').waitFor();
  await expectNone(welcome, 'first page');
});
