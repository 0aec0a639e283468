/**
 * The check of networks as it ships, in real Chromium with the real helper, on the first visit of a page whose light recording does not
 * show that its server offers HTTP/3.
 */
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserOnLink } from './browser-on-link.ts';

let link: BrowserOnLink;

beforeAll(async () => {
  link = await BrowserOnLink.open('shop', networkOf(profileNamed('udp-policed')), {
    publicAddresses: true,
    withholdsTimings: true,
  });
  await link.browser.ask(link.own, { type: 'change-settings', change: { checksNetworks: true } });
});

afterAll(() => link?.close());

test('the helper asks the page’s server whether it offers HTTP/3, once and of no other server', async () => {
  expect(await link.own.evaluate(() => typeof chrome.webRequest)).toBe('undefined');
  const tab = await link.newTab();
  const first = await link.loadCold(tab);
  expect(first).toMatchObject({ isDetailed: false, network: 'internet' });
  expect(first.recording.requests.map(({ offersH3 }) => offersH3).filter(Boolean)).toEqual([]);
  // Answered once what the load leads to is done.
  await link.browser.ask(link.own, { type: 'autopilot' });
  const answer = await link.browser.ask(link.own, { type: 'latest', url: link.site.entry });
  const { origin } = new URL(link.site.entry);
  const document = answer.ok && answer.load?.recording.requests[0];
  expect(document).toMatchObject({ url: link.site.entry, protocol: 'h2', offersH3: true });
  const asked = await link.own.evaluate(() => chrome.storage.session.get('asked-offers'));
  expect(asked).toEqual({ 'asked-offers': { [` ${origin}`]: { atMs: expect.any(Number), offersH3: true } } });
});
