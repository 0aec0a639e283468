/** The extension as the stores install it in Chromium: without access to any site until the user gives it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../../extension/test/support/browser.ts';
import { type Site, startSite } from '../../extension/test/support/site.ts';
import { storeManifest } from '../package/extension.ts';
import { checkSizes, measureSizes } from '../package/size-budgets.ts';

let site: Site;
let folder: string;

beforeAll(async () => {
  site = await startSite();
  folder = mkdtempSync(join(tmpdir(), 'hopwise-store-'));
});

afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true });
});

/** @param given match patterns of sites: no test can answer the browser's prompt, so the manifest has what it would grant */
async function launchStoreExtension(name: string, given: string[]): Promise<ExtensionBrowser> {
  const target = join(folder, name);
  cpSync(join(ROOT, 'extension/dist/chromium'), target, { recursive: true });
  const file = join(target, 'manifest.json');
  const built = JSON.parse(readFileSync(file, 'utf8'));
  // With the key, whose id the tests know.
  const manifest = { ...storeManifest(built), key: built.key, host_permissions: given };
  writeFileSync(file, JSON.stringify(manifest));
  const browser = await launch(target);
  onTestFinished(() => browser.close());
  return browser;
}

test.each(['chromium', 'firefox'])('is within its size budgets for %s', async (browser) => {
  checkSizes(await measureSizes(join(ROOT, 'extension/dist', browser)));
});

test('has access to no site, records nothing, and says so with a button that asks', async () => {
  const browser = await launchStoreExtension('none', []);
  const own = await browser.openOwn('welcome.html');
  expect(await own.evaluate(() => chrome.permissions.getAll())).toMatchObject({ origins: [] });
  await own.getByText('hopwise has access to no site yet.').waitFor();
  expect(await own.getByRole('button', { name: /^Allow on/ }).allTextContents()).toEqual([
    'Allow on all sites',
    'Allow on this site',
  ]);
  const page = await browser.context.newPage();
  await page.goto(`${site.url}/`);
  const tabs = await own.evaluate(() => chrome.tabs.query({}));
  // Without access the browser hides the URL too.
  const tabId = tabs.find(({ active, url }) => active && url === undefined)!.id!;
  const popup = await browser.openOwn(`popup.html?tabId=${tabId}`);
  await popup.getByText('hopwise has no access to web pages. Nothing is recorded.').waitFor();
  await popup.getByRole('button', { name: 'Allow on all sites' }).waitFor();
  expect(await browser.ask(own, { type: 'latest', tabId })).toMatchObject({ load: null });
});

test('records the site to which it has access, and sees less of what others serve', async () => {
  const browser = await launchStoreExtension('one', ['http://localhost/*']);
  const own = await browser.openOwn('welcome.html');
  // The page is the same under both names of this machine; what it requests from `site.other` is on 127.0.0.1.
  const url = site.url.replace('127.0.0.1', 'localhost');
  const page = await browser.context.newPage();
  await page.goto(`${url}/`);
  const tabId = await browser.tabIdOf(own, `${url}/`);
  const latest = async () => {
    const answer = await browser.ask(own, { type: 'latest', tabId });
    return (answer.ok && answer.load?.recording.requests) || [];
  };
  await expect.poll(async () => (await latest()).length).toBeGreaterThan(0);
  const requests = await latest();
  const addresses = (origin: string) =>
    new Set(requests.filter((one) => one.url.startsWith(`${origin}/`)).map(({ remoteIp }) => remoteIp));
  // The address is from `webRequest`, the request itself from Resource Timing.
  expect([...addresses(site.other)]).toEqual([null]);
  expect(addresses(url).size).toBe(1);
  expect(requests[0]).toMatchObject({ url: `${url}/`, status: 200 });
});
