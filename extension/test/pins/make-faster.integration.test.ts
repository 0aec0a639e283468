/** The popup acts on measured loads in real Chromium, with the real host, on a server that offers HTTP/3 by Alt-Svc. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StoredLoad } from '../../src/storage/loads.ts';
import type { ExtensionBrowser } from '../browser.ts';
import { TestHost } from './host.ts';
import * as requests from './pin-requests.ts';
import { H2, H3 } from './pin-requests.ts';
import { HOST } from './pinned-host.ts';
import { launchToPin } from './pinning-chromium.ts';

const MINUTE_MS = 60_000;

let served: requests.PinnedServer;
let host: TestHost;
let browser: ExtensionBrowser;
let own: Page;
let page: Page;
let pins: requests.PinRequests;

beforeAll(async () => {
  served = await requests.serveHost();
});

afterAll(() => served?.stop());

beforeEach(async () => {
  host = new TestHost();
  ({ browser, own, page } = await launchToPin(served.server.port, host));
  host.register(browser.profile);
  pins = new requests.PinRequests((request) => browser.ask(own, request), served.origin);
});

afterEach(async () => {
  await browser.close();
  await expect.poll(() => host.running(), { timeout: 20_000 }).toEqual([]);
  host.remove();
});

/** The tab's load, once it is recorded and is not the one before. */
async function recorded(tabId: number, before: number | null = null): Promise<StoredLoad> {
  let load: StoredLoad | null = null;
  await expect
    .poll(
      async () => {
        const answer = await browser.ask(own, { type: 'latest', tabId });
        load = answer.ok && answer.phase === 'recorded' && answer.loadId !== before ? answer.load : null;
        return load !== null;
      },
      { timeout: 30_000 },
    )
    .toBe(true);
  return load!;
}

/** Writes loads into the extension's storage. */
function storeLoads(loads: StoredLoad[]): Promise<void> {
  return own.evaluate(async (loads) => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open('hopwise'));
    const store = database.transaction('loads', 'readwrite').objectStore('loads');
    for (const load of loads) await done(store.put(load));
    database.close();
  }, loads);
}

/** A load like another one, that many loads before it. */
function loadBefore(
  load: StoredLoad,
  loads: number,
  pltMs: number,
  pinned: StoredLoad['pinned'],
): StoredLoad {
  const recordedAt = new Date(Date.parse(load.recording.recordedAt) - loads * MINUTE_MS).toISOString();
  return {
    ...load,
    id: load.id - loads,
    pinned,
    prediction: null,
    recording: { ...load.recording, pltMs, recordedAt },
  };
}

test('where loads without HTTP/3 were faster, one click pins the origin, reloads the page and shows the gain', async () => {
  const { server, origin } = served;
  // Allows the origin to be pinned although its address is of this machine.
  await pins.pin();
  await pins.unpin();
  await page.goto(server.url('/status/200', HOST));
  await requests.becomes(H3, page, server);
  await page.reload();
  const tabId = await browser.tabIdOf(own, page.url());
  const load = await recorded(tabId);
  const withPin = { [origin]: 'h2' as const };
  await storeLoads([
    ...[3000, 3100, 3300].map((ms, index) => loadBefore(load, 6 - index, ms, {})),
    ...[900, 950, 1000].map((ms, index) => loadBefore(load, 3 - index, ms, withPin)),
    loadBefore(load, 0, 3050, {}),
  ]);
  const popup = await browser.openOwn(`popup.html?tabId=${tabId}`);
  await popup.getByRole('heading', { name: 'off HTTP/3: 3.1 s → 1.0 s (measured)' }).waitFor();
  expect(await popup.locator('.hw-origins tbody tr').allTextContents()).toEqual([
    expect.stringMatching(/avoid HTTP\/32\.1\ss$/),
  ]);
  await server.seen(1);
  await popup.getByRole('button', { name: 'Make it faster' }).click();
  await recorded(tabId, load.id);
  expect(await pins.all()).toMatchObject([{ origin, kind: 'avoid-h3', state: 'active' }]);
  const reloaded = (await server.seen(1)).find(({ path }) => path === '/status/200');
  expect(reloaded).toMatchObject({ proto: 'HTTP/2.0' });
  expect(await requests.carried(page, server)).toBe(H2);
  await popup.getByText(/measured over 4 and 4 loads: it saves/).waitFor();
});
