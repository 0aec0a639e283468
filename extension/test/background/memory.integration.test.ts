/** What the built extension stores, in real Chromium, of pages whose URLs contain secrets. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSION_ID } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { LoadSummary } from '../../src/load/load-summary.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import {
  asContentScript,
  attackStorage,
  listHeard,
  reportAnotherSite,
  reportManyTimes,
} from '../support/captured-page.ts';
import { readOwnItems } from '../support/own-items.ts';

const EXTENSION = fileURLToPath(new URL('../../dist/chromium', import.meta.url));
const MAP_HOSTS = '--host-resolver-rules=MAP *.test 127.0.0.1';
const SECRET = 'S3CR3T';

let server: Server;
let origin: string;
let browser: ExtensionBrowser;
/** A page of the extension through which the tests send messages. */
let own: Page;

const PAGES: Record<string, [type: string, body: string]> = {
  '/page': [
    'text/html',
    `<link rel="stylesheet" href="/style.css?${SECRET}-style"><script src="/a.js?${SECRET}-script"></script>
      <img src="/large.svg?${SECRET}-paint" width="400" height="300"><img src="/i.svg?${SECRET}-1#${SECRET}-hash">
      <img src="/i.svg?${SECRET}-2"><iframe src="/frame?${SECRET}-frame"></iframe>`,
  ],
  '/plain': ['text/html', '<p>plain</p>'],
  '/never-loads': ['text/html', '<p>loading</p><img src="/never-ends.svg">'],
  '/frame': ['text/html', '<img src="/in-frame.svg">'],
  '/style.css': ['text/css', `body{background:url(/bg.svg?${SECRET}-background)}`],
  '/a.js': ['text/javascript', `fetch('/data.json?${SECRET}-fetch').then((response) => response.text())`],
};
const IMAGE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>';

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url!, 'http://host');
    if (pathname === '/never-ends.svg') return;
    if (pathname === '/start') {
      response.writeHead(302, { location: `/page${search}` }).end();
      return;
    }
    const [type, body] = PAGES[pathname] ?? ['image/svg+xml', IMAGE];
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://page.test:${(server.address() as AddressInfo).port}`;
  browser = await launch(EXTENSION, [MAP_HOSTS]);
  own = await browser.openOwn('devtools.html');
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

beforeEach(async () => {
  await browser.ask(own, { type: 'erase-all' });
});

async function openPage({ context } = browser): Promise<Page> {
  const page = await context.newPage();
  onTestFinished(() => page.close());
  return page;
}

async function openOptions(): Promise<Page> {
  const options = await browser.openOwn('options.html');
  onTestFinished(() => options.close());
  await options.getByRole('heading', { name: 'Browser history' }).waitFor();
  return options;
}

/** Loads a page and waits for its recording. */
async function record(url: string, from = { browser, own }): Promise<{ tabId: number; load: StoredLoad }> {
  const page = await openPage(from.browser);
  await page.goto(url);
  const tabId = await from.browser.tabIdOf(from.own, page.url());
  const latest = async () => {
    const answer = await from.browser.ask(from.own, { type: 'latest', tabId });
    return answer.ok ? answer.load : null;
  };
  await expect.poll(latest, { timeout: 60_000 }).not.toBeNull();
  return { tabId, load: (await latest())! };
}

const countLoads = async (from = { browser, own }) => {
  const answer = await from.browser.ask(from.own, { type: 'stored-data' });
  if (!answer.ok) throw new Error(answer.error);
  return answer.stored.loads;
};

/** Everything in the extension's database, with how long ago each load was stored moved back by some hours. */
const readDatabase = (hoursBack = 0) =>
  own.evaluate(async (hours) => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open('hopwise'));
    const stores = ['loads', 'summaries'];
    const transaction = database.transaction(stores, 'readwrite');
    for (const name of hours ? stores : []) {
      const store = transaction.objectStore(name);
      for (const each of await done(store.getAll()))
        await done(store.put({ ...each, storedAtMs: each.storedAtMs - hours * 3_600_000 }));
    }
    const loads: StoredLoad[] = await done(transaction.objectStore('loads').getAll());
    const summaries: LoadSummary[] = await done(transaction.objectStore('summaries').getAll());
    database.close();
    return { loads, summaries };
  }, hoursBack);

/** The files in which the browser keeps what the extension stores. */
async function readStoredFiles(): Promise<string[]> {
  const entries = await readdir(join(browser.profile, 'Default'), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => file.includes(EXTENSION_ID) && /IndexedDB|Extension Settings/.test(file));
  return Promise.all(files.map((file) => readFile(file, 'latin1')));
}

test('no query string, fragment or password is stored or exported, and requests stay distinct', async () => {
  // A page cannot fetch by relative URLs while its own URL contains a password.
  await record(`${origin.replace('//', `//user:${SECRET}-password@`)}/plain`);
  const { tabId, load } = await record(`${origin}/start?${SECRET}-query#${SECRET}-fragment`);
  expect(JSON.stringify(load)).not.toContain(SECRET);
  expect(JSON.stringify(await readDatabase())).not.toContain(SECRET);
  expect(JSON.stringify(await own.evaluate(readOwnItems))).not.toContain(SECRET);
  const files = await readStoredFiles();
  expect(files.some((text) => text.includes('page.test'))).toBe(true);
  expect(files.filter((text) => text.includes(SECRET))).toEqual([]);
  const exported = await browser.ask(own, { type: 'export', tabId });
  expect(JSON.stringify(exported)).not.toContain(SECRET);

  const find = (path: string) => load.recording.requests.filter(({ url }) => new URL(url).pathname === path);
  expect(new Set(find('/i.svg').map(({ url }) => url)).size).toBe(2);
  const by = (path: string) => {
    const { kind, requestId } = find(path)[0]!.initiator;
    return `${kind} ${requestId === null ? '' : new URL(load.recording.requests[requestId]!.url).pathname}`;
  };
  expect(by('/page')).toBe('redirect /start');
  expect(by('/bg.svg')).toBe('style /style.css');
  expect(by('/data.json')).toBe('script /a.js');
  expect(by('/in-frame.svg')).toBe('parser /frame');
});

test('a page is found by its URL, and is exported with query strings on request', async () => {
  const url = `${origin}/page?${SECRET}-query`;
  const { load } = await record(url);
  expect(await browser.ask(own, { type: 'latest', url })).toMatchObject({
    loadId: load.id,
    canExportQueries: true,
  });
  expect(await browser.ask(own, { type: 'export', url, withQueries: true })).toMatchObject({
    export: { recording: { url, requests: expect.arrayContaining([expect.objectContaining({ url })]) } },
  });
});

test('query strings are kept nowhere: a new worker asks the page for them', async () => {
  const url = `${origin}/page?${SECRET}-query`;
  const { tabId, load } = await record(url);
  const inSession = () => own.evaluate(async () => JSON.stringify(await chrome.storage.session.get()));
  await expect.poll(inSession).toContain(`"storedId":${load.id}`);
  expect(await inSession()).not.toContain(SECRET);
  await browser.stopWorker(own);
  const answer = await browser.ask(own, { type: 'export', tabId, withQueries: true });
  if (!answer.ok) throw new Error(answer.error);
  const exported = (answer.export as { recording: StoredLoad['recording'] }).recording;
  const strip = (text: string) => new URL(text).search.slice(1);
  expect(exported.url).toBe(url);
  expect(
    exported.requests
      .map((request) => strip(request.url))
      .filter(Boolean)
      .sort(),
  ).toEqual(
    ['-1', '-2', '-background', '-fetch', '-frame', '-paint', '-query', '-script', '-style'].map(
      (name) => SECRET + name,
    ),
  );
  for (const { url: requested } of exported.requests.filter(({ url }) => url.includes('/i.svg')))
    expect(strip(requested)).toMatch(/-[12]$/);
});

test('the popup offers an export with query strings', async () => {
  const { tabId } = await record(`${origin}/page?${SECRET}-query`);
  const popup = await browser.openOwn(`popup.html?tabId=${tabId}`);
  onTestFinished(() => popup.close());
  const save = async () => {
    const started = popup.waitForEvent('download');
    await popup.getByRole('button', { name: 'Export JSON' }).click();
    return readFile((await (await started).path())!, 'utf8');
  };
  await popup.locator('.hw-headline').waitFor();
  await popup.locator('#details > summary').click();
  expect(await save()).not.toContain(SECRET);
  await popup.getByLabel('with query strings').check();
  expect(await save()).toContain(`${SECRET}-query`);
});

test('the options page states what is stored, and erases it after one question', async () => {
  const { tabId } = await record(`${origin}/page?${SECRET}-query`);
  const options = await openOptions();
  await options.getByText('Page loads', { exact: true }).waitFor();
  await options.getByRole('button', { name: 'Erase…' }).click();
  await options.keyboard.press('Escape');
  expect(await countLoads()).toBe(1);
  await options.getByRole('button', { name: 'Erase…' }).click();
  await options.getByRole('button', { name: 'Erase', exact: true }).click();
  await options.getByText('Erased: 1 page load, 0 verifications and no learned network.').waitFor();
  expect(await readDatabase()).toEqual({ loads: [], summaries: [] });
  expect(await browser.ask(own, { type: 'latest', tabId })).toMatchObject({ phase: 'none', load: null });
  const inSession = () => own.evaluate(async () => JSON.stringify(await chrome.storage.session.get()));
  await expect.poll(inSession).not.toContain(SECRET);
});

test('without the permission for the history loads are not read after a day, and removed with the next load', async () => {
  await record(`${origin}/plain`);
  await readDatabase(25);
  await browser.stopWorker(own);
  expect(await countLoads()).toBe(0);
  const { load } = await record(`${origin}/plain?again`);
  const { loads, summaries } = await readDatabase();
  expect([loads, summaries].map((each) => each.map(({ id }) => id))).toEqual([[load.id], [load.id]]);
});

test.each([
  ['in detail', true],
  ['lightly', false],
])(
  'where loads are recorded %s, nothing of an excluded site is stored, and its pages send nothing but the check',
  async (_how, recordsInDetail) => {
    await record(`${origin}/plain`);
    await browser.ask(own, { type: 'change-settings', change: { recordsInDetail } });
    onTestFinished(async () => {
      await browser.ask(own, { type: 'change-settings', change: { recordsInDetail: true } });
    });
    const options = await openOptions();
    await options.getByLabel('Site', { exact: true }).fill('*.page.test');
    await options.keyboard.press('Enter');
    await options.getByText('page.test is excluded. Erased 1 page load.').waitFor();
    onTestFinished(async () => {
      await options.getByRole('button', { name: 'Remove page.test' }).click();
      await options.getByText('page.test is recorded again.').waitFor();
    });

    const worker = browser.context.serviceWorkers().at(-1)!;
    await worker.evaluate(() => {
      const seen: [string, unknown][] = [];
      Object.assign(globalThis, { seen });
      chrome.runtime.onMessage.addListener((message, { url = '' }) => {
        if (url.startsWith('http')) seen.push([new URL(url).hostname, message]);
      });
    });
    const excluded = await openPage();
    await excluded.goto(origin.replace('page.test', 'www.page.test'));
    await excluded.waitForLoadState('load');
    // That the second page is recorded shows that the first would have been by then.
    await record(origin.replace('page.test', 'other.test'));
    const messages = await worker.evaluate(
      () => (globalThis as unknown as { seen: [string, unknown][] }).seen,
    );
    expect(messages.filter(([host]) => host === 'www.page.test')).toEqual([
      [
        'www.page.test',
        { type: 'check-recording', isDetailed: recordsInDetail, timeOrigin: expect.any(Number) },
      ],
    ]);
    const { loads, summaries } = await readDatabase();
    expect([...loads, ...summaries].map(({ recording }) => new URL(recording.url).hostname)).toEqual([
      'other.test',
      'other.test',
    ]);
    const tabId = await browser.tabIdOf(own, excluded.url());
    expect(await browser.ask(own, { type: 'latest', tabId })).toMatchObject({
      phase: 'failed',
      problem: expect.stringContaining('This site is excluded'),
    });
  },
);

test('without its permission, the switch for history deletions is off and says what holds instead', async () => {
  const options = await openOptions();
  await options.getByText('It erases all that it stores about pages after a day').waitFor();
  expect(await options.getByLabel('Forget pages that I remove').isChecked()).toBe(false);
});

test('pages that the user removes from the history are erased when that is allowed', async () => {
  const allowed = await launch(await copyExtensionWithHistory(), [MAP_HOSTS]);
  onTestFinished(() => allowed.close());
  const from = { browser: allowed, own: await allowed.openOwn('options.html') };
  await from.own.getByText('are erased here too').waitFor();
  await record(`${origin}/page?${SECRET}-query`, from);
  await record(`${origin}/plain`, from);
  expect(await countLoads(from)).toBe(2);
  await from.own.evaluate((url) => chrome.history.deleteUrl({ url }), `${origin}/page?${SECRET}-query`);
  await expect.poll(() => countLoads(from)).toBe(1);
  await from.own.evaluate(() => chrome.history.deleteAll());
  await expect.poll(() => countLoads(from)).toBe(0);
});

/** The built extension with the permission from the start: a test cannot answer the browser's prompt for it. */
async function copyExtensionWithHistory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hopwise-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(EXTENSION, folder, { recursive: true });
  const file = join(folder, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  manifest.permissions.push('history');
  manifest.optional_permissions = manifest.optional_permissions.filter((name: string) => name !== 'history');
  await writeFile(file, JSON.stringify(manifest));
  return folder;
}

test('nothing is recorded in private windows', async () => {
  expect(await own.evaluate(() => chrome.runtime.getManifest().incognito)).toBe('not_allowed');
  expect(await own.evaluate(() => chrome.extension.isAllowedIncognitoAccess())).toBe(false);
});

test('content scripts, which a captured page could speak for, reach nothing that is stored', async () => {
  const { tabId } = await record(`${origin}/plain`);
  const before = await own.evaluate(readOwnItems);
  expect(before.settings).toMatchObject({ recordsInDetail: true });
  expect(await own.evaluate(asContentScript(attackStorage), tabId)).toEqual({
    local: [],
    session: 'refused',
    database: [],
  });
  expect(await own.evaluate(readOwnItems)).toEqual(before);
  await browser.ask(own, { type: 'change-settings', change: { recordsInDetail: true } });
  expect(await own.evaluate(asContentScript(listHeard), tabId)).toEqual(['of the page']);
  await browser.stopWorker(own);
  expect(await browser.ask(own, { type: 'autopilot' })).toMatchObject({ settings: { isOn: false } });
  expect(await browser.ask(own, { type: 'settings' })).toMatchObject({ settings: { checksNetworks: false } });
  const options = await openOptions();
  expect(await options.evaluate(() => document.documentElement.lang)).toBe('en');
});

test.each([
  ['lightly', false],
  ['in detail', true],
])(
  'a captured page can store no more than one load of a document that is recorded %s',
  async (_how, recordsInDetail) => {
    await browser.ask(own, { type: 'change-settings', change: { recordsInDetail } });
    onTestFinished(async () => {
      await browser.ask(own, { type: 'change-settings', change: { recordsInDetail: true } });
    });
    const { tabId } = await record(`${origin}/plain`);
    expect(await countLoads()).toBe(1);
    expect(await own.evaluate(asContentScript(reportManyTimes), tabId)).toEqual(Array(5).fill(true));
    expect(await countLoads()).toBe(1);
    expect(await browser.ask(own, { type: 'latest', tabId, brief: true })).toMatchObject({
      phase: 'recorded',
    });
  },
);

test('a captured page can store no load of another site', async () => {
  const recordInDetail = (recordsInDetail: boolean) =>
    browser.ask(own, { type: 'change-settings', change: { recordsInDetail } });
  await recordInDetail(false);
  onTestFinished(async () => void (await recordInDetail(true)));
  const page = await openPage();
  await page.goto(`${origin}/never-loads`, { waitUntil: 'commit' });
  const tabId = await browser.tabIdOf(own, page.url());
  // In the content script's world, before the page's own report.
  await own.evaluate(asContentScript(reportAnotherSite), tabId);
  const problem = async () => {
    const answer = await browser.ask(own, { type: 'latest', tabId });
    return answer.ok ? answer.problem : answer.error;
  };
  await expect
    .poll(problem)
    .toBe('This page could not be recorded: its report names another site than the browser does.');
  expect(await readDatabase()).toEqual({ loads: [], summaries: [] });
});
