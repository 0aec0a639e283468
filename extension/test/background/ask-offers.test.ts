import type { Verification } from '@hopwise/contract';
import { learnNetwork, type NetworkCluster, planNetworkCheck } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  AUTOPILOT_DEFAULTS,
  saveAutopilotSettings,
} from '../../src/autopilot/settings/autopilot-settings.ts';
import {
  askForOffers,
  forgetOffers,
  forgetUnrecognisedOffers,
  wantsOffers,
} from '../../src/background/ask-offers.ts';
import type { verifyWithHelper } from '../../src/helper/verify-with-helper.ts';
import { addLoad, getLoad, removeLoads, type StoredLoad, updateLoad } from '../../src/storage/loads.ts';
import { NOTHING_KNOWN, removeNetworks, saveNetworkMemory } from '../../src/storage/network.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { readBytesToday } from '../../src/storage/verification-data.ts';
import { loadOf, PAGE, requestOf } from '../evidence/stored-loads.ts';
import { saveKnownNetwork } from '../support/known-network.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import { verificationOf } from '../support/verification.ts';
import '../support/own-database.ts';

const known = { ...learnNetwork(null, loadOf(1).recording), updatedAtMs: Date.now() };
const clusterOf = (udp: NetworkCluster['udp']) => ({ ...known, udp });

const ORIGIN = 'https://page.test';
const HOUR_MS = 3_600_000;

/** URLs of the transfers that the helper was asked for. */
let transfers: string[];
let answer: Verification;

const verify: typeof verifyWithHelper = async ({ plan, protocols, rounds, budgetBytes, publicOnly }) => {
  transfers.push(...plan.transfers.map(({ url }) => url));
  expect([protocols, rounds, budgetBytes, publicOnly]).toEqual([['h2'], 1, 300_000, true]);
  return answer;
};

function answerWith(
  altSvc: { host: string; port: number; maxAgeS: number }[],
  unreachable = '',
): Verification {
  const httpsRecord = {
    ...{ state: 'absent' as const, alpn: [], port: null, target: '', ech: false, detail: '' },
  };
  const speaks = { h2: true, h3: null };
  const h3Offered = { altSvc, httpsRecord };
  return verificationOf({
    bytes: 12_000,
    origins: [{ origin: ORIGIN, unreachable, h3Offered, speaks, tcp: null, quic: null }],
  });
}

beforeEach(async () => {
  vi.unstubAllGlobals();
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
  transfers = [];
  answer = answerWith([{ host: '', port: 443, maxAgeS: 86_400 }]);
  await removeLoads(() => true);
  await removeNetworks();
  await ownStorage.remove('verification-data');
  await ownStorage.set({ settings: { checksNetworks: true } });
});

/** A light recording: it does not show what the server offers. */
async function store(more: Partial<StoredLoad> = {}, requests = LIGHT): Promise<number> {
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = loadOf(1, { cluster: null, isDetailed: false });
  return addLoad({ ...fields, ...more, recording: { ...fields.recording, requests, ...more.recording } });
}

const LIGHT = [
  requestOf(0, { bodyBytes: 900 }),
  requestOf(1, { bodyBytes: 90_000 }),
  requestOf(2, { bodyBytes: 40_000 }),
  requestOf(3, { bodyBytes: 2_000, url: `${PAGE}3?0` }),
  requestOf(4, { bodyBytes: 2_000, url: 'https://else.test/4' }),
  requestOf(5, { bodyBytes: 2_000, type: 'fetch' }),
];

const offerOf = async (id: number) => (await getLoad(id))!.recording.requests[0]!.offersH3;

test('the server of a page is asked once a day on a network, by its smallest response, and its answer stated', async () => {
  const id = await store();
  const nowMs = Date.now();
  await askForOffers(id, verify, nowMs);
  expect(transfers).toEqual([`${PAGE}2`]);
  expect(await offerOf(id)).toBe(true);
  expect((await getLoad(id))!.recording.requests[1]!.offersH3).toBeNull();
  expect(await readBytesToday()).toBe(12_000);

  const later = await store();
  await askForOffers(later, verify, nowMs + 23 * HOUR_MS);
  expect(transfers).toHaveLength(1);
  expect(await offerOf(later)).toBe(true);

  answer = answerWith([{ host: '', port: 443, maxAgeS: 0 }]);
  const nextDay = await store();
  await askForOffers(nextDay, verify, nowMs + 25 * HOUR_MS);
  expect(transfers).toHaveLength(2);
  expect(await offerOf(nextDay)).toBe(false);
});

test('on another network it is asked again, and after what is not recognised was left or all was forgotten', async () => {
  const networkKey = '2b7e151628aed2a6abf715';
  await askForOffers(await store(), verify);
  await askForOffers(await store({ networkKey }), verify);
  expect(transfers).toHaveLength(2);
  await forgetUnrecognisedOffers();
  await askForOffers(await store({ networkKey }), verify);
  expect(transfers).toHaveLength(2);
  await askForOffers(await store(), verify);
  expect(transfers).toHaveLength(3);
  await forgetOffers();
  await askForOffers(await store({ networkKey }), verify);
  expect(transfers).toHaveLength(4);
});

/** Visits a page of a server, whose load then leads to what it does. */
async function visit(host: string, networkKey: string | null): Promise<void> {
  const url = `https://${host}/`;
  const more = { requestedUrl: url, networkKey, recording: { ...loadOf(1).recording, url } };
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = loadOf(1, { cluster: null });
  const id = await addLoad({
    ...fields,
    ...more,
    recording: {
      ...more.recording,
      requests: [requestOf(0, { url }), requestOf(1, { url: `${url}1`, bodyBytes: 100_000 })],
    },
  });
  await askForOffers(id, verify);
}

test('no more than four servers are asked on a network in a day, and no more than twenty in all', async () => {
  for (let site = 0; site < 6; site++) await visit(`site${site}.test`, null);
  expect(transfers).toEqual([0, 1, 2, 3].map((site) => `https://site${site}.test/1`));
  for (let site = 6; site < 36; site++) await visit(`site${site}.test`, `${site % 6}`.padEnd(22, 'n'));
  expect(transfers).toHaveLength(20);
});

test('a site with many servers has one of them asked on a network', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await visit(`${name}.many.test`, null);
  await visit('other.test', null);
  await visit('b.many.test', 'n'.repeat(22));
  expect(transfers).toEqual(['a.many.test', 'other.test', 'b.many.test'].map((host) => `https://${host}/1`));
});

test('where too little came from the page’s own server for a check, another one of its site is asked', async () => {
  const fromServer = (id: number, name: string, bodyBytes: number) =>
    requestOf(id, { bodyBytes, url: `https://${name}.page.test/${id}` });
  const own = [requestOf(0, { bodyBytes: 20_000 }), requestOf(1, { bodyBytes: 300 })];
  const stranger = requestOf(2, { bodyBytes: 200_000, url: 'https://else.test/2' });
  answer = answerWith([]);
  answer.origins[0]!.origin = 'https://big.page.test';
  answer.origins[0]!.h3Offered.altSvc.push({ host: '', port: 443, maxAgeS: 86_400 });
  const id = await store({}, [
    ...own,
    stranger,
    fromServer(3, 'small', 9_000),
    fromServer(4, 'big', 60_000),
    fromServer(5, 'big', 50_000),
  ]);
  await askForOffers(id, verify);
  expect(transfers).toEqual(['https://big.page.test/5']);
  const { recording } = (await getLoad(id))!;
  expect(recording.requests.map(({ offersH3 }) => offersH3)).toEqual([null, null, null, null, true, null]);
  expect(planNetworkCheck(recording, '')).not.toBeNull();

  await forgetOffers();
  await askForOffers(await store({}, [...own, stranger]), verify);
  expect(transfers).toHaveLength(1);
});

test('nothing is asked where the load shows it, of local and unsuitable pages, or where it does not matter', async () => {
  await askForOffers(await store({}, [requestOf(0, { offersH3: false })]), verify);
  await askForOffers(await store({}, [requestOf(0), requestOf(1, { protocol: 'h3' })]), verify);
  await askForOffers(await store({ network: 'local' }), verify);
  await askForOffers(await store({ requestedUrl: 'https://news.example/' }), verify);
  await saveKnownNetwork(clusterOf({ open: 0.995, policed: 0.004, blocked: 0.001 }));
  await askForOffers(await store(), verify);
  expect(transfers).toEqual([]);
});

test('nothing is asked where the network would not be checked: a metered or a slow one', async () => {
  vi.stubGlobal('navigator', { userAgent: '', connection: { saveData: true } });
  await askForOffers(await store(), verify);
  vi.stubGlobal('navigator', { userAgent: '' });
  const downBps = { mean: Math.log(1e6), spread: 0.2 };
  await askForOffers(await store({ cluster: { ...known, downBps } }), verify);
  expect(transfers).toEqual([]);
});

test('what was erased or stripped while a server was asked stays so', async () => {
  const asked = () => chrome.storage.session.get(null);
  const erased = await store();
  await askForOffers(erased, async (...args) => {
    await removeLoads(() => true);
    await forgetOffers();
    return verify(...args);
  });
  expect([await getLoad(erased), JSON.stringify(await asked())]).toEqual([undefined, '{}']);

  const id = await store();
  await askForOffers(id, async (...args) => {
    const { recording } = (await getLoad(id))!;
    const requests = recording.requests.map((each) => ({ ...each, url: each.url.replace('?0', '?') }));
    await updateLoad(id, { recording: { ...recording, requests } });
    return verify(...args);
  });
  expect(await offerOf(id)).toBe(true);
  expect((await getLoad(id))!.recording.requests[3]!.url).toBe(`${PAGE}3?`);
});

test('a server that is not reached, or a helper that is missing, leaves it unknown, and is not asked again', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  answer = answerWith([], 'no connection');
  const id = await store();
  await askForOffers(id, verify);
  expect(await offerOf(id)).toBeNull();
  await forgetOffers();
  const missing: typeof verifyWithHelper = async () => {
    throw new Error('The helper is not installed.');
  };
  await askForOffers(id, missing);
  await askForOffers(id, verify);
  expect(await offerOf(id)).toBeNull();
  expect(transfers).toHaveLength(1);
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    'hopwise: offers of HTTP/3 are not known:',
    'The helper is not installed.',
  );
});

test('where another site’s server alone has shown that UDP is hindered, the page’s own is asked, whatever others offer', async () => {
  const third = requestOf(5, { bodyBytes: 250_000, url: 'https://else.test/5', offersH3: true });
  const big = requestOf(6, { bodyBytes: 200_000 });
  const check = clusterOf({ open: 0.02, policed: 0.96, blocked: 0.02 });
  const policedBps = { ...check.policedBps, mean: check.downBps.mean - 2 };
  for (const [checkedBy, asked] of [
    [null, 0],
    ['page.test', 0],
    ['other.test', 1],
  ] as const) {
    await saveNetworkMemory({ ...NOTHING_KNOWN, check: { ...check, policedBps }, checkedBy });
    await askForOffers(await store({}, [...LIGHT, third, big]), verify);
    expect(transfers, `${checkedBy}`).toHaveLength(asked);
  }
});

test('offers of HTTP/3 matter where networks are checked, while it is not known how this one treats UDP', async () => {
  await ownStorage.remove('settings');
  await saveAutopilotSettings({ ...AUTOPILOT_DEFAULTS, isOn: true });
  expect(await wantsOffers('page.test'), 'for the autopilot').toBe(false);
  await ownStorage.set({ settings: { checksNetworks: true } });
  expect(await wantsOffers('page.test'), 'unknown').toBe(true);
  await saveKnownNetwork(clusterOf({ open: 0.9, policed: 0.1, blocked: 0 }));
  expect(await wantsOffers('page.test'), 'unsure').toBe(true);
  await saveKnownNetwork(clusterOf({ open: 0.985, policed: 0.014, blocked: 0.001 }));
  expect(await wantsOffers('page.test'), 'assumed to be open').toBe(true);
  await saveKnownNetwork(clusterOf({ open: 0.995, policed: 0.004, blocked: 0.001 }));
  expect(await wantsOffers('page.test'), 'open').toBe(false);
  await saveKnownNetwork(clusterOf({ open: 0.01, policed: 0.02, blocked: 0.97 }));
  expect(await wantsOffers('page.test'), 'blocked').toBe(false);
});
