import { learnNetwork, type NetworkCluster } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { StartRateAnnouncer } from '../../src/announce/announcer.ts';
import { removeNetworks } from '../../src/storage/network.ts';
import { removeFoundNetwork, saveFoundNetwork } from '../../src/storage/network-key.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { saveKnownNetwork } from '../support/known-network.ts';
import { largePage } from '../support/large-page.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const HOME = 'a'.repeat(22);
const WORK = 'b'.repeat(22);
const DAY_MS = 86_400_000;

/** The browser's rules, which end with it. */
let rules: chrome.declarativeNetRequest.Rule[];

/** Starts the browser: its session's items and rules are gone. */
function startBrowser(): StartRateAnnouncer {
  rules = [];
  vi.stubGlobal('chrome', {
    history: {},
    storage: { session: new StubbedStorage() },
    declarativeNetRequest: {
      getSessionRules: async () => rules,
      updateSessionRules: async (change: chrome.declarativeNetRequest.UpdateRuleOptions) => {
        rules = change.addRules ?? [];
      },
    },
  });
  return new StartRateAnnouncer();
}

/** Puts the browser on a network, which the helper recognises. */
const enter = (key: string | null) =>
  saveFoundNetwork({ key, askAgainAtMs: Number.MAX_SAFE_INTEGER, usedAtMs: 0 });

/** Rates by site, as the rules for pages have them. */
const announced = () =>
  Object.fromEntries(
    rules
      .filter(({ condition }) => condition.resourceTypes)
      .map(({ action, condition }) => [condition.requestDomains!.join(), action.requestHeaders![0]!.value]),
  );

async function learn(mbps: number, rttMs = 500): Promise<void> {
  const network: NetworkCluster = learnNetwork(null, largePage(20));
  await saveKnownNetwork({
    ...network,
    loads: 5,
    downBps: { ...network.downBps, mean: Math.log(mbps * 1e6) },
    rttMs: { ...network.rttMs, mean: Math.log(rttMs) },
  });
}

beforeEach(async () => {
  startBrowser();
  await removeNetworks();
  await ownStorage.set({ settings: { announcesStartRate: true } });
});

test('announces to sites that asked from the first request after the browser has started, each network’s rate', async () => {
  const announcer = startBrowser();
  await enter(WORK);
  await learn(12);
  await enter(HOME);
  await learn(60);
  await announcer.handleHintsAsked('https://site.test/page', 'Start-Rate');
  expect(announced()).toEqual({ 'site.test': '50' });

  await startBrowser().handleBrowserStart(() => enter(HOME));
  expect(announced()).toEqual({ 'site.test': '50' });
  await startBrowser().handleBrowserStart(() => enter(WORK));
  expect(announced()).toEqual({ 'site.test': '10' });
  // What was known of a network without a key may be another one's.
  await startBrowser().handleBrowserStart(() => enter(null));
  expect(announced()).toEqual({});
});

test('announces nothing where the usual start fills the path within four round trips', async () => {
  const announcer = startBrowser();
  await learn(60, 30);
  await announcer.handleHintsAsked('https://site.test/page', 'Start-Rate');
  expect(announced()).toEqual({});
  await learn(60, 40);
  await announcer.update();
  expect(announced()).toEqual({ 'site.test': '50' });
});

test('asks the helper at the start only where a site has asked and the settings allow it', async () => {
  const recognise = vi.fn(async () => {});
  await startBrowser().handleBrowserStart(recognise);
  await startBrowser().handleHintsAsked('https://site.test/', 'Start-Rate');
  await ownStorage.set({ settings: { announcesStartRate: false } });
  await startBrowser().handleBrowserStart(recognise);
  expect(recognise).not.toHaveBeenCalled();
});

test('forgets sites with their pages, after their time, and the first of too many', async () => {
  const announcer = startBrowser();
  await removeFoundNetwork();
  await learn(20);
  const ask = (name: string, nowMs?: number) =>
    announcer.handleHintsAsked(`https://${name}.test/`, 'Start-Rate', nowMs);
  await ask('old', Date.now() - 8 * DAY_MS);
  await ask('one');
  await ask('two');
  expect(Object.keys(announced())).toEqual(['one.test', 'two.test']);
  await announcer.forgetSites((site) => site === 'https://one.test');
  expect(Object.keys(announced())).toEqual(['two.test']);
  for (let site = 0; site < 100; site++) await ask(`site-${site}`);
  expect(Object.keys(announced())).toHaveLength(100);
  expect(announced()).not.toHaveProperty('two.test');
  await ownStorage.set({ settings: { announcesStartRate: false } });
  await announcer.update();
  expect(announced()).toEqual({});
});

test('the many origins of a site cannot remember more than that the site has asked', async () => {
  const announcer = startBrowser();
  await removeFoundNetwork();
  await learn(25);
  await announcer.handleHintsAsked('https://other.test/', 'Start-Rate');
  for (let bit = 0; bit < 150; bit++) {
    await announcer.handleHintsAsked(`https://bit-${bit}.tracker.test:${8000 + bit}/`, 'Start-Rate');
  }
  expect(announced()).toEqual({ 'other.test': '20', 'tracker.test': '20' });
  // The last that asked can end it, and no other.
  await announcer.handleHintsAsked('https://bit-7.tracker.test:8007/', 'DPR');
  expect(announced()).toHaveProperty(['tracker.test']);
  await announcer.handleHintsAsked('https://bit-149.tracker.test:8149/', 'DPR');
  expect(announced()).toEqual({ 'other.test': '20' });
});
