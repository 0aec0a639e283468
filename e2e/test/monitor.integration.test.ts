/** Monitoring in the panel, with real transfers by the real helper over the lab's link. */
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserOnLink } from './browser-on-link.ts';

const VERIFIED = { timeout: 60_000 };

let link: BrowserOnLink;
let panel: Page;

beforeAll(async () => {
  link = await BrowserOnLink.open('app', networkOf(profileNamed('udp-policed')));
  const tab = await link.newTab();
  await link.loadCold(tab);
  const tabId = await link.browser.tabIdOf(link.own, tab.url());
  panel = await link.browser.openOwn(`panel.html?tabId=${tabId}`);
  await panel.getByRole('tab', { name: 'History' }).click();
});

afterAll(() => link?.close());

test('verifies the page at once, shows the times and waits for the next verification', async () => {
  const card = panel.locator('section', { has: panel.getByRole('heading', { name: 'Monitoring' }) });
  await card.getByRole('button', { name: 'Start' }).click();
  await card.getByText(/^0 of 7 verifications of https:/).waitFor();
  await card.getByText(/^1 of 7 .* The next one begins at /).waitFor(VERIFIED);
  const cells = await card.getByRole('row').nth(1).getByRole('cell').allTextContents();
  expect(
    cells.slice(0, 3).every((text) => /^[\d.]+\s(s|ms)$/.test(text)),
    cells.join(' | '),
  ).toBe(true);
  expect(cells[3]).toMatch(/^(HTTP\/[12](\.1)?|within 5%)$/);
  await card.getByRole('button', { name: 'Stop' }).click();
  await card.getByRole('button', { name: 'Start' }).waitFor();
  expect(await card.getByRole('status').textContent()).not.toContain('next');
});
