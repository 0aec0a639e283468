/** Every page of the extension in real Firefox: checked by axe in light or dark, at 320 px, and used by keyboard alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { predict } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { AXE, listViolations } from '../support/axe.ts';
import { largePage } from '../support/large-page.ts';
import { putLoad, withSummary } from '../support/put-load.ts';
import { type Site, startSite } from '../support/site.ts';
import { tabTo, walkByTab } from '../support/tab-walk.ts';
import { FirefoxBrowser, type FirefoxTab, firefoxPath, makeProfile } from './firefox.ts';

const EXTENSION = fileURLToPath(new URL('../../dist/firefox', import.meta.url));
const REQUESTS = 30;
/** Values of Firefox's `layout.css.prefers-color-scheme.content-override`. */
const COLOR_SCHEMES = { dark: 0, light: 1 };
/** Tabs of the panel in their order, each with what it shows once it is complete. */
const PANEL_TABS: [id: string, complete: string][] = [
  ['overview', '.hw-headline'],
  // None of its origins matters where the page is loaded without TLS.
  ['origins', '[role=tabpanel] :is(.hw-origins, .hw-rest)'],
  ['waterfall', '.hw-rows .hw-row'],
  ['connections', '.hw-connections-emulated [role=table]'],
  ['graph', '.hw-critical-step'],
  ['what-if', '.hw-what-if-map [aria-label="cell"]'],
  ['servers', '[role=tabpanel] .hw-headline'],
  ['history', '.hw-loads'],
];

const DETAILS = 'details of a request';

const firefox = firefoxPath();
if (!firefox) console.log('skipped: no Firefox (Debian: firefox-esr, or HOPWISE_FIREFOX)');

describe.skipIf(!firefox)('views in Firefox', () => {
  let home: string;
  let site: Site;
  let browser: FirefoxBrowser;
  /** A page of the extension through which the tests send messages. */
  let own: FirefoxTab;
  /** The tab whose load popup and panel show. */
  let tabId: number;

  beforeAll(async () => {
    site = await startSite();
    home = mkdtempSync(join(tmpdir(), 'hopwise-test-'));
    makeProfile(home, { trusted: [] });
    browser = await FirefoxBrowser.launch(EXTENSION, home, {});
    own = await browser.openOwn('devtools.html');
    const page = await browser.open(`${site.url}/kept.html`);
    tabId = await own.evaluate(
      async (url) => (await chrome.tabs.query({})).find((tab) => tab.url === url)!.id!,
      await page.evaluate(() => location.href),
    );
    const load = await vi.waitFor(
      async () => {
        const answer = await browser.ask(own, { type: 'latest', tabId });
        if (!answer.ok || !answer.load) throw new Error('nothing is recorded');
        return answer.load;
      },
      { timeout: 60_000, interval: 200 },
    );
    const recording = { ...largePage(REQUESTS), url: load.recording.url };
    const prediction = predict(recording, { waterfall: true });
    await own.evaluate(putLoad, withSummary({ ...load, recording, prediction }));
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  async function open(path: string, complete: string): Promise<FirefoxTab> {
    const view = await browser.openOwn(path);
    await waitFor(view, complete);
    return view;
  }

  const isShown = (view: FirefoxTab, selector: string) =>
    view.evaluate((selector) => document.querySelector(selector) !== null, selector);
  const waitFor = (view: FirefoxTab, selector: string) =>
    expect.poll(() => isShown(view, selector), { timeout: 60_000, message: selector }).toBe(true);

  /** Checks the view as it is by axe, in a color scheme. */
  async function expectNoViolation(view: FirefoxTab, state: string): Promise<void> {
    await view.run(AXE);
    const schemes = drawShare(Object.entries(COLOR_SCHEMES), 1, ([name]) => `${state}, ${name}`);
    for (const [name, value] of schemes) {
      await browser.setPref('layout.css.prefers-color-scheme.content-override', value);
      expect.soft(await view.evaluate(listViolations), `${state}, ${name}`).toEqual([]);
    }
  }

  /** Checks the view by axe and Tab, and whether it fits 320 px. */
  async function expectAccessible(view: FirefoxTab, state: string): Promise<void> {
    await expectNoViolation(view, state);
    expect.soft(await walkByTab(view), `${state}, by Tab`).toEqual({ unreached: [], unmarked: [] });
    await view.resize(320, 700);
    expect.soft(await view.evaluate(listTooWide), `${state}, 320 px wide`).toEqual([]);
    await view.resize(1000, 700);
  }

  /** Elements that make the page scroll sideways. Runs in the page. */
  function listTooWide(): string[] {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth)
      .map((element) => element.outerHTML.slice(0, 160));
  }

  test('the first page', async () => {
    const welcome = await open('welcome.html', '#content .hw-command');
    await expectAccessible(welcome, 'first page');
  });

  test('the options: a question is asked and declined by keyboard', async () => {
    const options = await open('options.html', '.hw-figures dd');
    await expectAccessible(options, 'options');
    const isErase = () => document.activeElement?.matches('section:has(dialog) > div > button') === true;
    await tabTo(options, isErase);
    await options.press('Enter');
    await waitFor(options, 'dialog[open]');
    await expectNoViolation(options, 'question');
    await options.press('Escape');
    await waitFor(options, 'dialog:not([open])');
    expect(await options.evaluate(isErase)).toBe(true);
  });

  test('the popup without a load', async () => {
    const ownId = await own.evaluate(async () => (await chrome.tabs.getCurrent())!.id!);
    await expectAccessible(await open(`popup.html?tabId=${ownId}`, '.hw-empty'), 'empty popup');
  });

  test('the popup opens the options by keyboard', async () => {
    const popup = await open(`popup.html?tabId=${tabId}`, '.hw-headline');
    await expectAccessible(popup, 'popup');
    await tabTo(popup, () => document.activeElement?.id === 'options');
    await popup.press('Enter');
    const urls = () => popup.evaluate(async () => (await chrome.tabs.query({})).map(({ url }) => url ?? ''));
    await expect.poll(urls).toContainEqual(expect.stringMatching(/options\.html$/));
  });

  test('the panel: arrow keys select each tab, Enter opens the details of a request', async () => {
    const panel = await open(`panel.html?tabId=${tabId}`, '.hw-headline');
    const checked = drawShare([...PANEL_TABS.map(([id]) => id), DETAILS], 3);
    for (const [index, [id, complete]] of PANEL_TABS.entries()) {
      await tabTo(panel, () => document.activeElement?.matches('[role=tab]') === true);
      if (index > 0) await panel.press('ArrowRight');
      await waitFor(panel, `#hw-tab-${id}[aria-selected=true]`);
      await waitFor(panel, complete);
      if (checked.includes(id)) await expectAccessible(panel, id);
      if (id !== 'waterfall') continue;
      await tabTo(panel, () => document.activeElement?.matches('.hw-row button') === true);
      await panel.press('Enter');
      await waitFor(panel, '.hw-details');
      if (checked.includes(DETAILS)) await expectAccessible(panel, DETAILS);
    }
  });

  test('the panel’s export menu opens and closes by keyboard', async () => {
    const panel = await open(`panel.html?tabId=${tabId}`, '.hw-headline');
    await tabTo(panel, () => document.activeElement?.matches('summary') === true);
    await panel.press('Enter');
    await waitFor(panel, 'details[open]');
    await expectAccessible(panel, 'export menu');
    await tabTo(panel, () => document.activeElement?.matches('summary') === true);
    await panel.press('Escape');
    await waitFor(panel, 'details:not([open])');
  });
});
