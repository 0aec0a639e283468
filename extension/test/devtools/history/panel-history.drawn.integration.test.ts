/** The panel's History in Chromium, with loads before and after a pin. */

import { fileURLToPath } from 'node:url';
import { MINUTE_MS } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StoredLoad } from '../../../src/storage/loads.ts';
import { CLUSTER, loadOf } from '../../evidence/stored-loads.ts';
import { type ExtensionBrowser, launch } from '../../support/browser.ts';
import { largePage } from '../../support/large-page.ts';
import { openWithLoad } from '../../support/open-with-load.ts';
import { type Site, startSite } from '../../support/site.ts';

const REQUESTS = 120;

let site: Site;
let browser: ExtensionBrowser;
let panel: Page;
const errors: string[] = [];

/** Earlier loads of the shown page: three without pins, two with one. */
function earlierLoads(): Omit<StoredLoad, 'id'>[] {
  const url = `${site.url}/kept.html`;
  return [4200, 4300, 4400, 2200, 2400].map((pltMs, index) => {
    const { id: _id, ...load } = loadOf(1, {
      requestedUrl: url,
      storedAtMs: Date.now(),
      pinned: index < 3 ? {} : { 'https://o1.page.test': 'h2' },
      recording: {
        ...largePage(REQUESTS - index),
        url,
        pltMs,
        recordedAt: new Date(Date.now() - (10 - index) * MINUTE_MS).toISOString(),
      },
    });
    return load;
  });
}

beforeAll(async () => {
  site = await startSite();
  browser = await launch(fileURLToPath(new URL('../../../dist/chromium', import.meta.url)));
  panel = await openWithLoad(
    browser,
    `${site.url}/kept.html`,
    { ...largePage(REQUESTS), pltMs: 4300, recordedAt: new Date().toISOString() },
    'panel.html',
  );
  panel.on('pageerror', (error) => errors.push(error.message));
  panel.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  // Numbers below that of the shown load: they were stored before it.
  const loads = earlierLoads().map((load, index) => ({ ...load, id: (index + 1) / 10 }));
  await panel.evaluate(
    async ({ earlier, onSameNetwork }) => {
      const done = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const database = await done(indexedDB.open('hopwise'));
      const store = database.transaction('loads', 'readwrite').objectStore('loads');
      const [shown] = await done(store.getAll());
      for (const load of [...earlier, { ...shown, ...onSameNetwork }]) await done(store.put(load));
      database.close();
    },
    { earlier: loads, onSameNetwork: { cluster: CLUSTER, network: 'internet' } },
  );
  await panel.getByRole('tab', { name: 'History' }).click();
  await panel.getByText('6 loads of this page').waitFor();
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

const rows = () => panel.locator('.hw-loads tbody tr');
const comparison = () => panel.getByRole('region', { name: 'Comparison of two loads' });

test('draws the trend of the load times, pins marked', async () => {
  const trend = panel.locator('svg[aria-label="Load time, load by load"]');
  await expect.poll(() => trend.locator('[aria-label="dot"] > *').count()).toBe(6);
  const described = await trend.getAttribute('aria-description');
  expect(described).toContain('2.4 s, pins: o1.page.test on HTTP/2, network A');
});

test('lists the loads with their pins and networks, and what the pin gained', async () => {
  expect(await rows().nth(1).textContent()).toContain('o1.page.test on HTTP/2');
  expect(await rows().nth(5).textContent()).toContain('no pins');
  await expect.poll(() => rows().first().textContent(), { timeout: 60_000 }).toMatch(/Mbit\/s/);
  await panel
    .getByText(/o1\.page\.test on HTTP\/2: 4\.3\ss\s→\s2\.3\ss, measured over 4 loads before and 2 after/)
    .waitFor();
  await panel.getByText(/^Network of 6 loads: round trip/).waitFor();
});

test('compares the shown load with the one before it, then two others', async () => {
  expect(await panel.locator('.hw-loads input:checked').count()).toBe(2);
  await comparison().getByText('4 requests only in the earlier load').waitFor({ state: 'detached' });
  await comparison().getByText('4 only in the later one.').waitFor();
  await rows().nth(4).getByRole('checkbox').check();
  await rows().nth(5).getByRole('checkbox').check();
  expect(await panel.locator('.hw-loads input:checked').count()).toBe(2);
  const change = comparison().getByRole('row', { name: /^Load event/ });
  expect(await change.textContent()).toContain('+100 ms');
  await comparison().locator('.hw-compared').first().waitFor();
});

test('a request opens its times in both loads', async () => {
  await comparison()
    .getByRole('button', { name: /^1\.js/ })
    .press('Enter');
  const details = panel.getByRole('complementary', { name: 'Details of the request' });
  await details.getByText('Times in the earlier load').waitFor();
  await details.getByRole('button', { name: 'Close' }).click();
});

test('one selected load is compared with none', async () => {
  await rows().nth(5).getByRole('checkbox').uncheck();
  await panel.getByText('Select two loads to compare them.').waitFor();
  expect(await comparison().count()).toBe(0);
});

test('a load that is removed meanwhile is no longer listed', async () => {
  await panel.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('hopwise');
      request.onsuccess = () => resolve(request.result);
    });
    const transaction = database.transaction('loads', 'readwrite');
    transaction.objectStore('loads').delete(0.1);
    await new Promise((resolve) => {
      transaction.oncomplete = resolve;
    });
    database.close();
  });
  await panel.getByRole('tab', { name: 'Overview' }).click();
  await panel.getByRole('tab', { name: 'History' }).click();
  await panel.getByText('5 loads of this page').waitFor();
});

test('no view has thrown or logged an error', () => {
  expect(errors).toEqual([]);
});
