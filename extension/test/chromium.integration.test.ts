/** The built extension in real Chromium, on pages of loopback servers. */
import { fileURLToPath } from 'node:url';
import { EXTENSION_ID } from '@hopwise/contract';
import type { NetworkCluster, Recording } from '@hopwise/pageload-emulator';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TabLoad } from '../src/background/tab-loads.ts';
import { isMissingHost } from '../src/helper/helper-port.ts';
import type { StoredLoad } from '../src/storage/loads.ts';
import { type ExtensionBrowser, launch } from './support/browser.ts';
import { readOwnItems, setOwnItems } from './support/own-items.ts';
import { putLoad, withSummary } from './support/put-load.ts';
import { recorded } from './support/recorded.ts';
import { type Site, startSite } from './support/site.ts';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));

let site: Site;
let browser: ExtensionBrowser;
/** A page of the extension through which the tests send messages. */
let own: Page;
/** Opened first: it is recorded only after the timeout for pages without a load event. */
let neverLoads: Page;

beforeAll(async () => {
  site = await startSite();
  browser = await launch(`${packageRoot}dist/chromium`);
  own = await browser.openOwn('devtools.html');
  neverLoads = await browser.context.newPage();
  await neverLoads.goto(`${site.url}/never.html`, { waitUntil: 'commit' });
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** A page that is closed with the test. */
async function openPage(): Promise<Page> {
  const page = await browser.context.newPage();
  onTestFinished(() => page.close());
  return page;
}

/** Loads a page and waits for its recording. */
async function record(path: string, page: Page): Promise<{ tabId: number; load: StoredLoad }> {
  await page.goto(site.url + path);
  return recorded(page, { browser, own });
}

describe('a page that requests its resources in many ways', () => {
  let recording: Recording;
  let load: StoredLoad;
  let tabId: number;
  /** Without query string: recordings have a number in its place. */
  const short = (url: string) => url.replace(site.url, '').replace(site.other, 'other:').replace(/\?.*/, '');
  const asked = (path: string) => {
    const one = recording.requests.find((request) => short(request.url) === path);
    if (!one) throw new Error(`${path} is not recorded`);
    const from = one.initiator.requestId;
    return `${one.initiator.kind} ${from === null ? 'none' : short(recording.requests[from]!.url)}`;
  };

  const recordAll = async () => {
    site.served.length = 0;
    const page = await browser.context.newPage();
    try {
      ({ load, tabId } = await record('/start', page));
    } finally {
      await page.close();
    }
    recording = load.recording;
  };
  beforeAll(recordAll);

  test('at least 98% of what the servers served is recorded, each request once', () => {
    const left = recording.requests.map((request) => `${request.method} ${short(request.url)}`);
    const missing = site.served.filter(({ method, url }) => {
      const at = left.indexOf(`${method} ${short(url)}`);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    expect(site.served.length).toBeGreaterThan(300);
    expect(1 - missing.length / site.served.length, JSON.stringify(missing)).toBeGreaterThanOrEqual(0.98);
    expect(left.filter((one) => !one.endsWith('/favicon.ico'))).toEqual([]);
  });

  test('its times are present and in order', () => {
    expect(recording.url).toBe(`${site.url}/`);
    expect(recording.browser).toMatch(/^Chromium \d+$/);
    expect(recording.pltMs).toBeGreaterThan(0);
    expect(recording.firstContentfulPaintMs).toBeGreaterThan(0);
    expect(recording.largestContentfulPaintMs).toBeGreaterThan(0);
    const starts = recording.requests.map((request) => request.startMs);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    for (const { startMs, endMs } of recording.requests) expect(endMs).toBeGreaterThanOrEqual(startMs);
  });

  test('every request of the page itself has its protocol, size and status', () => {
    const same = recording.requests.filter((one) => one.url.startsWith(site.url) && one.status === 200);
    const named = same.filter(
      (one) => one.protocol === 'h1' && one.transferBytes && one.remoteIp === '127.0.0.1',
    );
    expect(named.length / same.length).toBeGreaterThanOrEqual(0.98);
    const offered = same.filter((one) => one.offersH3 === true);
    expect(offered.length).toBe(same.length);
  });

  test('fields that the browser withholds for the other origin are null, but the body size is known', () => {
    const third = recording.requests.find((one) => short(one.url) === 'other:/third.js')!;
    expect(third).toMatchObject({ protocol: null, transferBytes: null, decodedBytes: null, status: 200 });
    expect(third.bodyBytes).toBe('new Image().src = "/from-other.png?2"'.length);
  });

  test.each([
    ['/start', 'navigation none'],
    ['/', 'redirect /start'],
    ['/preloaded.png', 'preload /'],
    ['/style.css', 'parser /'],
    ['other:/other.css', 'parser /'],
    ['/parsed.png', 'parser /'],
    ['/many.png', 'parser /'],
    ['/small.png', 'parser /'],
    ['/written.png', 'script /'],
    ['/moved.png', 'parser /'],
    ['/target.png', 'redirect /moved.png'],
    ['/f.ttf', 'style /style.css'],
    ['/bg.png', 'style /style.css'],
    ['other:/other.ttf', 'style other:/other.css'],
    ['/inline-style.png', 'style /'],
    ['/deep/inline.json', 'script /'],
    ['/b.js', 'script /a.js'],
    ['/xhr.json', 'script /a.js'],
    ['/url.json', 'script /a.js'],
    ['/request.json', 'script /a.js'],
    ['other:/preflighted.json', 'script /a.js'],
    ['/image.png', 'script /b.js'],
    ['/attribute.png', 'script /b.js'],
    ['other:/third.js', 'script /b.js'],
    ['/from-other.png', 'script other:/third.js'],
    ['/late.css', 'script /b.js'],
    ['/late.png', 'style /late.css'],
    ['/imported.js', 'script /module.js'],
    ['/dynamic.js', 'script /module.js'],
    ['/from-module.json', 'script /imported.js'],
    ['/frame.html', 'parser /'],
    ['/frame.css', 'parser /frame.html'],
    ['/frame-bg.png', 'style /frame.css'],
    ['/from-own-frame.json', 'script /frame.js'],
    ['/late-frame.html', 'script /b.js'],
    ['/in-late-frame.png', 'parser /late-frame.html'],
    ['other:/frame.html', 'parser /'],
    ['other:/in-frame.png', 'parser other:/frame.html'],
    ['other:/from-frame.json', 'script other:/frame.html'],
  ])('%s is initiated by: %s', (path, by) => {
    expect(asked(path)).toBe(by);
  });

  test('is predicted, stored, and found by tab, by URL and in the export', async () => {
    expect(load.problem).toBe('');
    expect(Object.keys(load.prediction!.protocols)).toEqual(['h1', 'h2', 'h3']);
    expect(load.prediction!.page.url).toBe(recording.url);
    for (const url of [`${site.url}/start`, `${site.url}/`]) {
      expect(await browser.ask(own, { type: 'latest', url })).toMatchObject({ ok: true, loadId: load.id });
    }
    const answer = await browser.ask(own, { type: 'export', url: recording.url });
    expect(answer).toMatchObject({ ok: true, export: { format: 'hopwise-load', version: 1, recording } });
  });

  test('the evidence of earlier loads is shown and can be forgotten', async () => {
    const page = await openPage();
    const { tabId, load } = await record('/slow.html', page);
    // Loads from this machine are not learned.
    expect(load.cluster).toBeNull();
    expect(Object.keys(await own.evaluate(readOwnItems))).toEqual(['settings']);
    const figure = { mean: 3, spread: 0.5 };
    const cluster: NetworkCluster = {
      format: 'hopwise-network-cluster',
      version: 1,
      updatedAtMs: Date.parse(load.recording.recordedAt) - 5 * 60_000,
      loads: 4,
      rttMs: figure,
      downBps: figure,
      upBps: figure,
      queueMs: figure,
      loss: figure,
      policedBps: figure,
      udp: { open: 1, policed: 0, blocked: 0 },
    };
    await own.evaluate(setOwnItems, { networks: { '': { sites: { 'page.test': cluster } } } });
    await own.evaluate(putLoad, withSummary({ ...load, cluster }));
    const popup = await openPage();
    await popup.goto(`chrome-extension://${EXTENSION_ID}/popup.html?tabId=${tabId}`);
    const panel = await openPage();
    await panel.goto(`chrome-extension://${EXTENSION_ID}/panel.html?tabId=${tabId}`);
    const rests = 'from this load and 4 earlier loads, the last 5 minutes before it.';
    await popup.locator('#details > summary').click();
    for (const view of [popup, panel]) await view.getByText(rests).waitFor();
    await panel.getByRole('button', { name: 'Forget earlier loads' }).click();
    await panel.getByText('Network estimated from this load only.').waitFor();
    expect(Object.keys(await own.evaluate(readOwnItems))).toEqual(['settings']);
    expect((await recorded(page, { browser, own })).load).toMatchObject({
      cluster: null,
      prediction: { page: { url: page.url() } },
    });
  });

  test('popup and panel show it without an error', async () => {
    for (const path of ['popup.html', 'panel.html']) {
      const errors: string[] = [];
      const page = await openPage();
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      const slow = await openPage();
      const again = await record('/slow.html', slow);
      await page.goto(`chrome-extension://${EXTENSION_ID}/${path}?tabId=${again.tabId}`);
      await page.locator('.hw-headline').waitFor();
      if (path === 'popup.html') await page.locator('#details > summary').click();
      const rows =
        path === 'panel.html' ? '.hw-chart [aria-label="fy-axis tick label"] text' : '.hw-times tbody th';
      // A chart puts no space between the lines of a name.
      const names = (await page.locator(rows).allTextContents()).map((name) => name.replaceAll(' ', ''));
      expect(names).toEqual(
        expect.arrayContaining(['Browser’sownchoice', 'HTTP/1.1', 'HTTP/2', expect.stringMatching('HTTP/3')]),
      );
      expect(await page.getByRole('tab').count()).toBe(path === 'panel.html' ? 8 : 0);
      const verify = page.getByRole('button', { name: 'Verify' });
      expect(await verify.getAttribute('title')).toContain('at most five times the page’s data');
      await verify.click();
      await page.getByText('Only pages loaded over https can be verified').waitFor();
      expect(errors).toEqual([]);
      // Its tab is found by its URL.
      await slow.close();
    }
    expect(tabId).toBeGreaterThanOrEqual(0);
  });
});

/** Path and status of the stored requests of a tab's load, which outlive the worker. */
async function kept(tabId: number): Promise<Record<string, number>> {
  const { requests = [] } = await own.evaluate(async (key) => {
    const stored = (await chrome.storage.session.get(key)) as Record<string, Partial<TabLoad>>;
    return stored[key] ?? {};
  }, `tab-load:${tabId}`);
  const sent = requests.filter((request) => request.sent && !request.url.endsWith('/favicon.ico'));
  return Object.fromEntries(sent.map(({ url, status }) => [new URL(url).pathname, status]));
}

test('a load survives a stop of the worker', async () => {
  const page = await openPage();
  await page.goto(`${site.url}/held.html`, { waitUntil: 'commit' });
  const tabId = await browser.tabIdOf(own, page.url());
  await expect.poll(() => kept(tabId)).toEqual({ '/held.html': 200, '/parsed.png': 200, '/held.png': 0 });
  const worker = () => browser.context.serviceWorkers().at(-1);
  await worker()!.evaluate(() => Object.assign(globalThis, { lifeOfWorker: 1 }));
  await browser.stopWorker(own);
  site.release();
  await page.waitForLoadState('load');
  const { load } = await recorded(page, { browser, own });
  expect(load.recording.requests.map((one) => new URL(one.url).pathname)).toEqual(
    expect.arrayContaining(['/held.html', '/parsed.png', '/held.png']),
  );
  expect(load.recording.requests.every((one) => one.status === 200)).toBe(true);
  await expect.poll(worker).toBeDefined();
  expect(await worker()!.evaluate(() => 'lifeOfWorker' in globalThis)).toBe(false);
});

test('a page reports again where the worker stops while it records', async () => {
  const worker = browser.context.serviceWorkers().at(-1)!;
  // What recording a load asks for never comes, so that it is under way when the worker stops.
  await worker.evaluate(() => {
    const asked = new Promise((resolve) => {
      const get = () => {
        resolve(true);
        return new Promise(() => {});
      };
      Object.assign(chrome.tabs, { get });
    });
    Object.assign(globalThis, { asked });
  });
  const page = await openPage();
  await page.goto(`${site.url}/eager.html`);
  await worker.evaluate(() => Reflect.get(globalThis, 'asked') as Promise<boolean>);
  await browser.stopWorker(own);
  const { load } = await recorded(page, { browser, own });
  expect(load.recording.requests.map((one) => new URL(one.url).pathname)).toContain('/slow.png');
});

test('a synthetic load event is ignored', async () => {
  const { load } = await record('/eager.html', await openPage());
  // slow.png takes 2 s.
  expect(load.recording.pltMs).toBeGreaterThan(1900);
  expect(load.recording.requests.find((one) => one.url.endsWith('/slow.png'))?.status).toBe(200);
});

test('requests that the page’s policy blocks are not recorded', async () => {
  const { load } = await record('/policy.html', await openPage());
  const paths = load.recording.requests.map(({ url }) => url).filter((url) => !url.endsWith('/favicon.ico'));
  expect(paths).toEqual([`${site.url}/policy.html`, `${site.url}/parsed.png`]);
});

test('a tab without a page states the reason', async () => {
  const blank = await openPage();
  await blank.goto('chrome://version');
  const tabId = await own.evaluate(async () => (await chrome.tabs.query({ active: true }))[0]!.id);
  const popup = await browser.openOwn(`popup.html?tabId=${tabId}`);
  onTestFinished(() => popup.close());
  await popup.getByText('hopwise records pages loaded over http and https').waitFor();
});

test('the icon of a tab loses number and tooltip with its page, also where the next one is the same', async () => {
  const page = await openPage();
  await page.goto(`${site.url}/policy.html`);
  const tabId = await browser.tabIdOf(own, page.url());
  const mark = (text: string, title: string) =>
    own.evaluate(
      async (shown) => {
        await chrome.action.setBadgeText({ tabId: shown.tabId, text: shown.text });
        await chrome.action.setTitle({ tabId: shown.tabId, title: shown.title });
      },
      { tabId, text, title },
    );
  const icon = () =>
    own.evaluate(
      async (id) => [
        await chrome.action.getBadgeText({ tabId: id }),
        await chrome.action.getTitle({ tabId: id }),
      ],
      tabId,
    );
  await mark('−2s', 'this page');
  expect(await icon()).toEqual(['−2s', 'this page']);
  await page.reload();
  expect(await icon()).toEqual(['', 'hopwise']);
  await mark('−2s', 'this page');
  await page.goto(`${site.other}/policy.html`);
  expect(await icon()).toEqual(['', 'hopwise']);
});

test('a host that is not installed is distinguished from one that fails', async () => {
  const reason = await own.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const port = chrome.runtime.connectNative('org.hopwise.absent');
        port.onDisconnect.addListener(() => resolve(chrome.runtime.lastError?.message ?? ''));
      }),
  );
  expect(isMissingHost(reason), reason).toBe(true);
});

test('a page that never fires load is recorded as it is', async () => {
  const { load } = await recorded(neverLoads, { browser, own });
  expect(load.recording.pltMs).toBeNull();
  const never = load.recording.requests.find((one) => one.url.endsWith('/never.png'));
  expect(never).toMatchObject({ status: 0, transferBytes: null });
  expect(never!.endMs).toBeGreaterThan(25_000);
});
