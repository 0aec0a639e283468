/** HTTP/3 kept off for all pages at once, in real Chromium, with the real host, on a server that offers it by Alt-Svc. */
import { EVERY_ORIGIN, type PinState } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Server } from '../../../native-host/test/support/server.ts';
import type { ExtensionBrowser } from '../support/browser.ts';
import { largePage } from '../support/large-page.ts';
import { openWithLoad } from '../support/open-with-load.ts';
import { startSite } from '../support/site.ts';
import { TestHost } from './host.ts';
import * as requests from './pin-requests.ts';
import { H2, H3 } from './pin-requests.ts';
import { HOST } from './pinned-host.ts';
import { launchToPin } from './pinning-chromium.ts';

/** Hosts that the helper takes for public ones; it takes `HOST` for one of this machine. */
const VISITED = 'public-visited.lab.test';
const NEW = 'public-new.lab.test';
const OTHER = 'public-other.lab.test';

let served: requests.PinnedServer;
let server: Server;
let host: TestHost;
let browser: ExtensionBrowser;
let own: Page;
let page: Page;
let pins: requests.PinRequests;

beforeAll(async () => {
  served = await requests.serveHost();
  ({ server } = served);
  host = new TestHost();
  ({ browser, own, page } = await launchToPin(server.port, host, {}, [HOST, VISITED, NEW, OTHER]));
  await host.register(browser.profile);
  pins = new requests.PinRequests((request) => browser.ask(own, request), EVERY_ORIGIN);
});

afterEach(async () => {
  await page.goto('about:blank');
  for (const { origin } of await pins.all()) await pins.unpin(origin);
});

afterAll(async () => {
  await browser?.close();
  await vi.waitFor(() => expect(host.running()).toEqual([]), { timeout: 60_000 });
  host?.remove();
  await served?.stop();
});

const carried = () => requests.carried(page, server);
const becomes = (wanted: string) => requests.becomes(wanted, page, server);
const visit = (name: string) => page.goto(server.url('/status/200', name));
const pinEvery = () => pins.pin('avoid-h3', false);
const proxySettings = () => own.evaluate(() => chrome.proxy.settings.get({}));
const pacScript = async () => (await proxySettings()).value.pacScript?.data ?? '';

/** @returns the protocol of the document of a visit, as the server has seen it */
async function visitAnew(name: string): Promise<string | undefined> {
  await server.seen();
  await visit(name);
  return (await server.seen(1)).find(({ path }) => path === '/status/200')?.proto;
}

test('every page avoids HTTP/3 from its first visit on, known to offer it or not, until it is allowed again', async () => {
  await visit(VISITED);
  await becomes(H3);
  expect(await pinEvery()).toMatchObject({ ok: true, pins: [{ origin: EVERY_ORIGIN, state: 'active' }] });
  for (const name of [VISITED, NEW, OTHER]) {
    expect(await visitAnew(name)).toBe('HTTP/2.0');
    for (let request = 0; request < 5; request++) expect(await carried()).toBe(H2);
  }
  expect(await pins.unpin()).toMatchObject({ ok: true, pins: [] });
  await becomes(H3);
  expect(await proxySettings()).toMatchObject({ value: { mode: 'system' } });
});

test('an origin at an address that is not public goes its own way, and the others stay off HTTP/3', async () => {
  await pinEvery();
  expect((await visit(HOST))?.status()).toBe(200);
  await expect.poll(pacScript).toContain(`"${server.url('', HOST)}"`);
  await becomes(H3);
  await visit(NEW);
  for (let request = 0; request < 5; request++) expect(await carried()).toBe(H2);
});

test('an origin’s own pin precedes', async () => {
  await pinEvery();
  const origin = server.url('', VISITED);
  const single = new requests.PinRequests((request) => browser.ask(own, request), origin);
  await single.pin('avoid-h3', false);
  await visit(VISITED);
  expect(await carried()).toBe(H2);
  expect(await pacScript()).toContain(`["${origin}"]`);
  await pins.unpin();
  expect(await carried()).toBe(H2);
});

test('without the helper pages still load, and the user sees the reason', async () => {
  await pinEvery();
  await visit(VISITED);
  expect(await carried()).toBe(H2);
  for (const pid of host.running()) process.kill(pid, 'SIGKILL');
  expect((await visit(OTHER))?.status()).toBe(200);
  await becomes(H3);
  await expect.poll(() => pins.all()).toMatchObject([{ origin: EVERY_ORIGIN, state: 'lifted' }]);
  expect(await proxySettings()).toMatchObject({ value: { mode: 'system' } });
  const popup = await browser.openOwn('popup.html');
  await popup.getByText('HTTP/3 is on again on this network: The helper stopped').waitFor();
  await popup.close();
});

test('a load records no address of the helper, and one entry for all that was held', async () => {
  await pinEvery();
  await visit(NEW);
  const tabId = await browser.tabIdOf(own, page.url());
  const describeLoad = async () => {
    const answer = await browser.ask(own, { type: 'latest', tabId });
    const load = answer.ok && answer.phase === 'recorded' ? answer.load : null;
    const requests = load?.recording.requests ?? [];
    const addresses = [...new Set(requests.map(({ remoteIp }) => remoteIp))];
    const deniesH3 = requests.some(({ offersH3 }) => offersH3 === false);
    return { pinned: load?.pinned, network: load?.network, addresses, deniesH3 };
  };
  await expect
    .poll(describeLoad)
    .toEqual({ pinned: { [EVERY_ORIGIN]: 'h2' }, network: 'internet', addresses: [null], deniesH3: false });
});

/** The size to which Chromium limits a popup's height, and the popup's own width. */
const POPUP = { width: 380, height: 600 };
const LIFTED: PinState = {
  origin: 'https://page.test',
  kind: 'avoid-h3',
  expiresAtMs: null,
  persistent: false,
  state: 'lifted',
  reason: 'The helper stopped responding; pages load without it.',
};

test('a lifted pin and its button are in sight without scrolling', async () => {
  const site = await startSite();
  onTestFinished(() => site.close());
  const popup = await openWithLoad(browser, `${site.url}/kept.html`, largePage(120), 'popup.html');
  await popup.setViewportSize(POPUP);
  await popup.evaluate((pins) => chrome.storage.session.set({ pins: { pins } }), [LIFTED]);
  // The next worker reads what this one would have stored.
  await browser.stopWorker(popup);
  const dismiss = popup.locator('.hw-pin-lifted button');
  await dismiss.waitFor();
  const { y, height } = (await dismiss.boundingBox())!;
  expect(y + height).toBeLessThan(POPUP.height);
  await dismiss.click();
  await dismiss.waitFor({ state: 'detached' });
});
