/** "Make it faster" in real Chromium with the real helper: a natural load over HTTP/3 on a link that polices UDP, and one click. */
import type { StoredLoad } from '@hopwise/extension/messages';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowPins } from '../../extension/test/pins/pinning-chromium.ts';
import { BrowserOnLink } from './browser-on-link.ts';

let link: BrowserOnLink;

beforeAll(async () => {
  link = await BrowserOnLink.open('app', networkOf(profileNamed('udp-policed')));
  await allowPins(link.own);
  // The lab's addresses are reserved for benchmarks: pins to them are refused until the user has allowed them.
  for (const { origin } of link.site.origins) {
    const pin = { type: 'pin', origin, kind: 'avoid-h3', minutes: 60, persistent: false } as const;
    const made = await link.browser.ask(link.own, { ...pin, allowLocal: true });
    expect(made).toMatchObject({ ok: true, allowed: true });
    await link.browser.ask(link.own, { type: 'unpin', origin });
  }
});

afterAll(() => link?.close());

const countH3 = ({ recording }: StoredLoad) =>
  recording.requests.filter(({ protocol }) => protocol === 'h3').length;

/** The size to which Chromium limits a popup's height, and a usual width. */
const POPUP = { width: 400, height: 600 };

/** Lowest edge of what is to be seen without scrolling: verdict, button and times. */
const bottomOf = (popup: Page): Promise<number> =>
  popup.locator('.hw-times').evaluate((times) => times.getBoundingClientRect().bottom);

async function listPins() {
  const answer = await link.browser.ask(link.own, { type: 'pins' });
  if (!answer.ok) throw new Error(answer.error);
  return answer.pins;
}

test('one click keeps a page off HTTP/3 and reloads it, the gain is measured, and one click undoes it', async () => {
  const tab = await link.newTab();
  const slow = await link.loadCold(tab);
  expect(countH3(slow)).toBeGreaterThan(0);
  const popup = await link.openPopup(tab);
  await popup.setViewportSize(POPUP);
  await popup.getByRole('heading', { name: /off HTTP\/3: .* → / }).waitFor();
  expect(await bottomOf(popup)).toBeLessThan(POPUP.height);
  await popup.getByRole('button', { name: 'Make it faster' }).click();

  const fast = await link.nextLoad(slow.id);
  expect(countH3(fast)).toBe(0);
  expect((await listPins()).map(({ kind, state }) => `${kind} ${state}`)).toEqual(
    link.site.origins.map(() => 'avoid-h3 active'),
  );
  const seconds = ({ recording }: StoredLoad) => `${(recording.pltMs! / 1000).toFixed(1)} s`;
  const gain = `With these pins: ${seconds(slow)} → ${seconds(fast)}, measured over 2 loads.`;
  await popup.getByRole('heading', { name: gain }).waitFor();
  expect(await bottomOf(popup)).toBeLessThan(POPUP.height);
  await popup
    .getByText(`${seconds(slow)} → ${seconds(fast)}, measured over 1 and 1 load: it saves`)
    .waitFor();

  await popup.getByText(`This page has ${link.site.origins.length} pins.`).waitFor();
  await popup.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(listPins).toEqual([]);
});
