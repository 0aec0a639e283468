/** What loads teach is kept for each network that the real helper recognises, in real Chromium. */

import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowPins } from '../../extension/test/pins/pinning-chromium.ts';
import { readOwnItems } from '../../extension/test/support/own-items.ts';
import { BrowserOnLink } from './browser-on-link.ts';

const PREFIX = 'autopilot-explorer:';
/** Duplicate address detection takes a second or two, Chromium's notification two more. */
const SETTLE_MS = 5000;
const LEARNT_TIMEOUT = { timeout: 10_000, interval: 200 };
const ATTEMPTS = 3;

let link: BrowserOnLink;
let tab: Page;
let options: Page;

beforeAll(async () => {
  link = await BrowserOnLink.open('shop', networkOf(profileNamed('cable')));
  await allowPins(link.own);
  await link.allowPinsToServers();
  for (const name of ['home', 'train']) {
    link.runBeside(['ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}-router`]);
    for (const end of [name, `${name}-router`]) link.runBeside(['ip', 'link', 'set', end, 'up']);
  }
  // The links get addresses, which Chromium takes for changes of the network: it ends requests in progress.
  await sleep(SETTLE_MS);
  tab = await link.newTab();
  options = await link.browser.openOwn('options.html');
});

afterAll(() => link?.close());

/**
 * Changes the default route; the page's servers have one of their own. The browser stays online by it, so the event that it reports
 * between two networks comes from here.
 */
async function goTo(name: string): Promise<void> {
  link.runBeside(['ip', 'route', 'replace', 'default', 'dev', name]);
  const [worker] = link.browser.context.serviceWorkers();
  await worker!.evaluate(() => {
    self.dispatchEvent(new Event('offline'));
  });
}

/** Number of learned loads of the page, by the key of the network. */
async function readLearned(): Promise<Record<string, number>> {
  const stored = await link.own.evaluate(readOwnItems);
  return Object.fromEntries(
    Object.entries(stored)
      .filter(([name]) => name.startsWith(PREFIX))
      .map(([name, value]) => {
        const { clusters } = value as { clusters: Record<string, { arms: Record<string, unknown[]> }> };
        const page = Object.keys(clusters).find((key) => key.includes(link.site.entry))!;
        return [name.slice(PREFIX.length), Object.values(clusters[page]!.arms).flat().length];
      }),
  );
}

/** A load that was learned from, and how many of its network were. */
interface LearnedLoad {
  networkKey: string;
  learned: number;
}

/**
 * Loads the page until more of its network's loads are learned than before: one that a change of the network or a busy machine disturbed
 * does not count.
 */
async function loadUntilLearned(before = 0): Promise<LearnedLoad> {
  for (let left = ATTEMPTS; ; left--) {
    const { networkKey } = await link.loadCold(tab);
    const countLearned = async () => (await readLearned())[networkKey!] ?? 0;
    try {
      await expect.poll(countLearned, LEARNT_TIMEOUT).toBeGreaterThan(before);
      return { networkKey: networkKey!, learned: await countLearned() };
    } catch (problem) {
      if (left === 1) throw problem;
    }
  }
}

test('what is learned at home is found again after the train', async () => {
  await options.getByLabel('Let hopwise make pages faster by itself').check();
  await options.getByLabel('Also try the next best choice now and then').check();
  // Nothing is tried and no pin made: each load is the browser's own.
  await link.browser.ask(link.own, { type: 'change-autopilot', change: { minGain: 0.9 } });
  const [worker] = link.browser.context.serviceWorkers();
  await worker!.evaluate(() => {
    Math.random = () => 0.99;
  });

  // A first visit, after which the browser knows that the servers offer HTTP/3, shows nothing of later ones.
  await link.loadCold(tab);
  await goTo('home');
  const home = await loadUntilLearned();
  expect(home.networkKey).toMatch(/^[\w-]{22}$/);
  await goTo('train');
  const train = await loadUntilLearned();
  expect(train.networkKey).toMatch(/^[\w-]{22}$/);
  expect(train.networkKey).not.toBe(home.networkKey);
  await options.getByText(/^The internet, on another network/).waitFor();
  await goTo('home');
  const again = await loadUntilLearned(home.learned);
  expect(again.networkKey).toBe(home.networkKey);
  expect(await readLearned()).toEqual({
    [home.networkKey]: again.learned,
    [train.networkKey]: train.learned,
  });

  const erase = options.getByRole('button', { name: /^Erase what was learned: .* on another network/ });
  await expect.poll(() => erase.count(), LEARNT_TIMEOUT).toBe(1);
  await erase.click();
  await expect.poll(readLearned).toEqual({ [home.networkKey]: again.learned });
});
