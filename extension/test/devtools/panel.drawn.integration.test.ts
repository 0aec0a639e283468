/** The panel's tabs in Chromium, on pages of 2,000 and 40 requests. */
import { fileURLToPath } from 'node:url';
import type { Recording } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import { largePage } from '../support/large-page.ts';
import { openWithLoad } from '../support/open-with-load.ts';
import { type Site, startSite } from '../support/site.ts';
import { listTextFaults } from '../support/text-faults.ts';

const REQUESTS = 2_000;
/** What is emulated many times. */
const SMALL_PAGE = 40;

let site: Site;
let browser: ExtensionBrowser;
let panel: Page;
const errors: string[] = [];

beforeAll(async () => {
  site = await startSite();
  browser = await launch(fileURLToPath(new URL('../../dist/chromium', import.meta.url)));
  panel = await openPanel(largePage(REQUESTS));
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function openPanel(page: Recording): Promise<Page> {
  const opened = await openWithLoad(browser, `${site.url}/kept.html`, page, 'panel.html');
  opened.on('pageerror', (error) => errors.push(error.message));
  opened.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  return opened;
}

const openTab = (name: string) => panel.getByRole('tab', { name }).click();
const rows = () => panel.locator('.hw-rows .hw-row');

test('lists 2,000 requests with elements only for those in sight, to the last one', async () => {
  await openTab('Waterfall');
  const table = panel.getByRole('table', { name: 'Requests' });
  expect(await table.getAttribute('aria-rowcount')).toBe(String(REQUESTS));
  expect(await rows().count()).toBeLessThan(80);
  await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  const last = largePage(REQUESTS).requests.at(-1)!.url.split('/').at(-1)!;
  await panel.getByRole('button', { name: last }).waitFor();
  expect(await rows().count()).toBeLessThan(80);
});

test('shows at least ten requests where it is docked 350 px high, beside the details of one', async () => {
  const before = panel.viewportSize()!;
  await panel.setViewportSize({ width: 1200, height: 350 });
  const countInSight = () =>
    rows().evaluateAll((all) => {
      const { bottom } = document.querySelector('.hw-rows')!.getBoundingClientRect();
      const head = document.querySelector('.hw-rows-head')!.getBoundingClientRect().bottom;
      const boxes = all.map((row) => row.getBoundingClientRect());
      return boxes.filter((box) => box.top >= head - 1 && box.bottom <= bottom + 1).length;
    });
  await panel.getByRole('table', { name: 'Requests' }).evaluate((element) => element.scrollTo(0, 0));
  await expect.poll(countInSight).toBeGreaterThanOrEqual(10);
  await rows().nth(3).locator('.hw-row-bars').click();
  const details = panel.getByRole('complementary', { name: 'Details of the request' });
  await details.waitFor();
  expect(await countInSight()).toBeGreaterThanOrEqual(10);
  const scrollbars = await panel.evaluate(
    () =>
      [...document.querySelectorAll('body, main, .hw-tab-panel')].filter(
        ({ scrollHeight, clientHeight }) => scrollHeight > clientHeight,
      ).length,
  );
  expect(scrollbars).toBe(0);
  await details.getByRole('button', { name: 'Close' }).click();
  await panel.setViewportSize(before);
});

test('in a narrow toolbar the other tabs are in a menu, and the actions behind a button', async () => {
  const before = panel.viewportSize()!;
  await panel.setViewportSize({ width: 320, height: 500 });
  const shown = panel.getByRole('tab');
  const hasTab = async (name: string) => (await shown.allInnerTexts()).includes(name);
  await expect.poll(() => hasTab('History')).toBe(false);
  const menu = panel.getByRole('combobox', { name: 'More views' });
  await menu.selectOption('History');
  await panel.getByText(/loads? of this page/).waitFor();
  expect(await hasTab('History')).toBe(true);
  expect(await panel.evaluate(() => document.activeElement?.id)).toBe('hw-tab-history');
  // Also by keyboard: the tab before it is in the menu.
  await panel.keyboard.press('ArrowLeft');
  expect(await hasTab('Servers')).toBe(true);
  const open = panel.getByRole('button', { name: 'Open file' });
  expect(await open.isVisible()).toBe(false);
  await panel.getByRole('button', { name: 'Actions' }).click();
  await open.waitFor();
  await panel.keyboard.press('Escape');
  await open.waitFor({ state: 'hidden' });
  await panel.setViewportSize(before);
  await openTab('Waterfall');
  await menu.waitFor({ state: 'hidden' });
});

test('sorts by a column, and the other way round', async () => {
  const head = panel.getByRole('columnheader', { name: 'Time' });
  // The first ones: how many are drawn depends on the height that is left for them.
  const names = async () => (await rows().locator('.hw-cell-duration').allTextContents()).slice(0, 8);
  const byStart = await names();
  await head.getByRole('button').click();
  expect(await head.getAttribute('aria-sort')).toBe('descending');
  const longest = await names();
  expect(longest).not.toEqual(byStart);
  await head.getByRole('button').click();
  expect(await head.getAttribute('aria-sort')).toBe('ascending');
  expect(Number.parseFloat((await names())[0]!)).toBeLessThan(Number.parseFloat(longest[0]!));
  await panel.getByRole('columnheader', { name: 'Start' }).getByRole('button').click();
  await expect.poll(names).toEqual(byStart);
});

test('lists the origins with their facts, and answers why one was asked over HTTP/3 or not', async () => {
  await openTab('Origins');
  const origins = panel.locator('.hw-origins tbody tr');
  // Twelve, and the page's own.
  await expect.poll(() => origins.count()).toBe(13);
  await panel.getByRole('button', { name: 'o1.page.test' }).click();
  const details = panel.getByRole('complementary', { name: 'Details of the server' });
  await details.getByText('Why not HTTP/3?').waitFor();
  await details.getByText('Whether the server offers it was not recorded.').waitFor();
  await openTab('Waterfall');
});

test('filters, sorts and shows the details of a request with its initiators', async () => {
  await panel.getByRole('searchbox', { name: 'Search URLs' }).fill('o7.page.test/1003');
  await panel.getByText('1 of 2,000 requests').waitFor();
  await panel.getByRole('button', { name: /^1003\.png/ }).click();
  const details = panel.getByRole('complementary', { name: 'Details of the request' });
  expect(await details.textContent()).toContain('GET 200');
  // Request 1,003 is of the group that script 1,001 asked for, which is in the document.
  expect(await details.locator('.hw-chain').first().locator('li').allTextContents()).toEqual([
    expect.stringMatching(/\S/),
    expect.stringContaining('1001.js'),
    expect.stringContaining('1003.png'),
  ]);
  await panel.getByRole('searchbox', { name: 'Search URLs' }).fill('');
  await panel.getByRole('combobox', { name: 'Type' }).selectOption('script');
  await panel.getByText('100 of 2,000 requests').waitFor();
  await panel.getByRole('combobox', { name: 'Type' }).selectOption('');
});

test('overlays an emulated load, and draws its critical path', async () => {
  await panel.getByRole('combobox', { name: 'Load', exact: true }).selectOption('h3');
  await panel.getByRole('combobox', { name: 'Compare with' }).selectOption('recorded');
  await panel.locator('.hw-rows .hw-compared').first().waitFor();
  await panel.getByRole('checkbox', { name: 'Critical path only' }).check();
  await panel.locator('.hw-rows .hw-critical').first().waitFor({ timeout: 60_000 });
  expect(await rows().count()).toBe(await panel.locator('.hw-rows .hw-critical').count());
  await panel.getByRole('checkbox', { name: 'Critical path only' }).uncheck();
});

test('zooms by buttons, and back to the whole load', async () => {
  const ticks = () => panel.locator('.hw-axis-row .hw-tick').allTextContents();
  await panel.getByRole('button', { name: 'All of the load' }).click();
  const before = await ticks();
  await panel.getByRole('button', { name: 'Zoom in' }).click();
  expect(await ticks()).not.toEqual(before);
  await panel.getByRole('button', { name: 'All of the load' }).click();
  expect(await ticks()).toEqual(before);
});

test('moves from row to row by arrow keys', async () => {
  await rows().first().getByRole('button').focus();
  const focused = () => panel.evaluate(() => (document.activeElement as HTMLElement).dataset.index);
  const first = Number(await focused());
  for (let presses = 1; presses <= 60; presses++) {
    await panel.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe(String(first + presses));
  }
});

test('shows the connections of the recorded and of the emulated load side by side, with a legend', async () => {
  await openTab('Connections');
  await panel.getByRole('table', { name: 'Connections' }).waitFor({ timeout: 60_000 });
  // Recorded without names: a row for each of the 12 origins, and for the page's own.
  const recorded = panel.getByRole('table', { name: 'Recorded' });
  expect(await recorded.locator('.hw-connection[role=row]:not(.hw-connection-head)').count()).toBe(13);
  expect(await panel.locator('[role=tabpanel] .hw-legend li').allTextContents()).toEqual([
    'HTTP/1.1',
    'HTTP/2',
    'HTTP/3',
    'connecting',
    'waiting',
    'receiving',
    'load event',
  ]);
  await panel.getByRole('button', { name: 'HTTP/1.1' }).click();
  // Six connections to each of 12 origins, and to the page's own.
  const emulated = panel.getByRole('table', { name: 'Connections' });
  expect(await emulated.locator('.hw-connection[role=row]:not(.hw-connection-head)').count()).toBeGreaterThan(
    13,
  );
});

test('axes of connections have as many labels as fit', async () => {
  const before = panel.viewportSize()!;
  await panel.setViewportSize({ width: 320, height: 3000 });
  await panel.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  await expect.poll(() => panel.evaluate(listTextFaults)).toEqual([]);
  await panel.setViewportSize(before);
});

test('blocked UDP leaves HTTP/3 without a time', async () => {
  panel = await openPanel(largePage(SMALL_PAGE));
  await openTab('What if');
  await panel.locator('.hw-bar').first().waitFor();
  await panel.getByRole('combobox', { name: 'UDP' }).selectOption('blocked');
  await panel.locator('[data-protocol=h3]', { hasText: 'does not load' }).waitFor();
});

test('takes the loss by window of a server from a file, and says in one line what is wrong in another', async () => {
  const choose = async (name: string, text: string) => {
    await panel
      .locator('.hw-server-loss input')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  };
  await panel.getByText('Loss by window, counted by a server').click();
  await choose('wrong.csv', 'cwnd,p\n10,2\n');
  await panel.getByText('wrong.csv: line 2: expected a probability from 0 to 1, got "2"').waitFor();
  await choose('large.csv', ' '.repeat(1_000_001));
  await panel.getByText('large.csv: expected at most 1 MB').waitFor();
  await choose('site.csv', 'cwnd,p\n1,0.001\n100,0.001\n');
  const times = panel.locator('.hw-server-loss td');
  await times.first().waitFor();
  expect(await times.allTextContents()).toEqual(Array(4).fill(expect.stringMatching(/^[\d.,]+ (ms|s)$/)));
});

test('advises changes of the page’s servers on networks of choice, with configuration', async () => {
  const page = JSON.stringify(largePage(SMALL_PAGE)).replaceAll('//o0.page.test', '//o0.cdn.test');
  panel = await openPanel(JSON.parse(page));
  await openTab('Servers');
  await panel.locator('[role=tabpanel] .hw-headline').waitFor();
  await panel.getByRole('checkbox', { name: /^Also changes/ }).check();
  await panel.getByRole('combobox', { name: 'Networks of the visitors' }).selectOption('satellite');
  await panel.getByText('Gains are shares').waitFor();
  expect(await panel.locator('[role=tabpanel]').textContent()).not.toContain('At o0.cdn.test');
  await panel.getByRole('checkbox', { name: 'o0.cdn.test' }).check();
  const change = panel.locator('[data-kind=initial-window]');
  await change.getByText('At o0.cdn.test').waitFor();
  await change.locator('summary').click();
  await change.getByText('initcwnd 32').waitFor();
});

test('no view has thrown or logged an error', () => {
  expect(errors).toEqual([]);
});
