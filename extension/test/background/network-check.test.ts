import { HOUR_MS } from '@hopwise/contract';
import { learnNetwork } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { isMetered } from '../../src/background/may-check.ts';
import {
  checkNetwork,
  examineNetwork,
  forgetChecks,
  forgetUnrecognisedCheck,
} from '../../src/background/network-check.ts';
import { hindersUdp } from '../../src/evidence/known-udp.ts';
import type { verifyWithHelper } from '../../src/helper/verify-with-helper.ts';
import { addLoad, getLoad, removeLoads, type StoredLoad } from '../../src/storage/loads.ts';
import {
  loadNetwork,
  NOTHING_KNOWN,
  removeNetworks,
  removeSites,
  saveNetworkMemory,
} from '../../src/storage/network.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { readBytesToday } from '../../src/storage/verification-data.ts';
import { loadOf, PAGE, requestOf } from '../evidence/stored-loads.ts';
import { saveKnownNetwork } from '../support/known-network.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import { udpOf, verificationOf } from '../support/verification.ts';
import '../support/own-database.ts';

const POLICED = verificationOf({
  pageUrl: PAGE,
  bytes: 400_000,
  udp: { ...udpOf('policed', true), quicBps: 2e6, tcpBps: 30e6 },
});

/** Transfers that the helper was asked for. */
let plans: string[][];
const verify: typeof verifyWithHelper = async ({ plan, protocols, budgetBytes, publicOnly }) => {
  plans.push(plan.transfers.map(({ url }) => url));
  expect(protocols).toEqual(['h2', 'h3']);
  expect(budgetBytes).toBeLessThanOrEqual(700_000);
  expect(publicOnly).toBe(true);
  return POLICED;
};

beforeEach(async () => {
  plans = [];
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
  await removeLoads(() => true);
  await removeNetworks();
  await allowChecks(true);
});

const allowChecks = (checksNetworks: boolean) => ownStorage.set({ settings: { checksNetworks } });

const OFFERING = [
  requestOf(0, { offersH3: true }),
  requestOf(1, { bodyBytes: 90_000 }),
  requestOf(2, { bodyBytes: 250_000 }),
  requestOf(3, { bodyBytes: 40_000, type: 'fetch' }),
];

async function store(more: Partial<StoredLoad> = {}): Promise<number> {
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = loadOf(1, { cluster: null, ...more });
  const recording = { ...fields.recording, requests: OFFERING, recordedAt: new Date().toISOString() };
  const id = await addLoad({ ...fields, recording, ...more });
  // As each load does when it is stored.
  await saveKnownNetwork(learnNetwork(null, recording));
  return id;
}

test('a new network is checked once a day, by what the page had from a server that offers HTTP/3', async () => {
  const id = await store();
  await checkNetwork(id, verify);
  expect(plans).toEqual([[`${PAGE}2`]]);
  expect((await loadNetwork())!.udp.policed).toBeGreaterThan(0.9);
  expect((await getLoad(id))?.check?.udp).toMatchObject({ kind: 'policed' });
  await checkNetwork(id, verify, Date.now() + 23 * HOUR_MS);
  expect(plans).toHaveLength(1);
  await checkNetwork(id, verify, Date.now() + 25 * HOUR_MS);
  expect(plans).toHaveLength(2);
  await forgetChecks();
  await checkNetwork(id, verify, Date.now() + 26 * HOUR_MS);
  expect(plans).toHaveLength(3);
  // The clock was set back.
  await checkNetwork(id, verify, Date.now());
  expect(plans).toHaveLength(4);
});

/** A page of another site, with a server of its own and one that the first page had too. */
function storeOther(): Promise<number> {
  const url = 'https://other.test/';
  const requests = [
    requestOf(0, { url }),
    requestOf(1, { url: `${PAGE}2`, bodyBytes: 250_000, offersH3: true }),
    requestOf(2, { url: 'https://cdn.other.test/', bodyBytes: 240_000, offersH3: true }),
  ];
  const recording = { url, requests, recordedAt: new Date().toISOString() };
  const whole = loadOf(1, { cluster: null, requestedUrl: url, recording });
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = whole;
  return addLoad(fields);
}

const hinders = async () => hindersUdp({ cluster: await loadNetwork() });

test('what a check finds holds at once, and is asked of the next site’s own server, which may show otherwise', async () => {
  await checkNetwork(await store(), verify);
  expect(await hinders()).toBe(true);
  const open = verificationOf({ udp: udpOf('open', true) });
  await checkNetwork(await storeOther(), async (probe, ...more) => {
    await verify(probe, ...more);
    return open;
  });
  expect(plans).toEqual([[`${PAGE}2`], ['https://cdn.other.test/']]);
  expect(await hinders()).toBe(false);
});

test('a second server that does not show how UDP is treated changes nothing of what the first one has shown', async () => {
  await checkNetwork(await store(), verify);
  const other = await storeOther();
  const isUnsure = verificationOf({ udp: udpOf('unknown', true) });
  await checkNetwork(other, async () => isUnsure);
  expect(await hinders()).toBe(true);
  // The question stays open, and is asked again an hour later.
  await checkNetwork(other, verify, Date.now() + 2 * HOUR_MS);
  expect(plans).toHaveLength(2);
});

test('that UDP gets through to a second server refutes that it is blocked', async () => {
  const blocked = verificationOf({ udp: udpOf('blocked', false) });
  await checkNetwork(await store(), async () => blocked);
  expect((await loadNetwork())!.udp.blocked).toBeGreaterThan(0.9);
  await checkNetwork(await storeOther(), async () => verificationOf({ udp: udpOf('unknown', true) }));
  expect((await loadNetwork())!.udp.blocked).toBeLessThan(0.1);
});

test('what two sites’ servers have shown is not asked again that day', async () => {
  const id = await store();
  for (const hours of [0, 2]) await checkNetwork(id, verify, Date.now() + hours * HOUR_MS);
  for (const hours of [0, 2, 4]) await checkNetwork(await storeOther(), verify, Date.now() + hours * HOUR_MS);
  expect(plans).toHaveLength(2);
  expect(await hinders()).toBe(true);
});

test('a check is forgotten with the site whose server it asked', async () => {
  await checkNetwork(await store(), verify);
  await removeSites((site) => site === 'page.test');
  expect(await hinders()).toBe(false);
});

test('a network that is not recognised is checked anew after it was left, a recognised one is not', async () => {
  const networkKey = '2b7e151628aed2a6abf71589';
  await checkNetwork(await store(), verify);
  await checkNetwork(await store({ networkKey }), verify);
  expect(plans).toHaveLength(2);
  await forgetUnrecognisedCheck();
  await checkNetwork(await store({ networkKey }), verify);
  expect(plans).toHaveLength(2);
  await checkNetwork(await store(), verify);
  expect(plans).toHaveLength(3);
});

test('nothing is transferred unless the user allows it, nor where the network is known', async () => {
  await allowChecks(false);
  await checkNetwork(await store(), verify);
  await allowChecks(true);
  const network = learnNetwork(null, loadOf(1).recording);
  const cluster = { ...network, udp: { open: 0.995, policed: 0.004, blocked: 0.001 } };
  await checkNetwork(await store({ cluster }), verify);
  await checkNetwork(await store({ requestedUrl: 'https://news.example/' }), verify);
  expect(plans).toEqual([]);
});

test('where another site showed that HTTP/3 may be slowed down, it is checked by this one, an hour later again', async () => {
  const id = await store();
  const { recording } = loadOf(1);
  const plain = learnNetwork(null, recording);
  const hindered = {
    ...plain,
    updatedAtMs: Date.now(),
    udp: { open: 0.02, policed: 0.96, blocked: 0.02 },
    policedBps: { ...plain.policedBps, mean: plain.downBps.mean - 2 },
  };
  const suspect = (site: string) =>
    saveNetworkMemory({ ...NOTHING_KNOWN, sites: { [site]: hindered, 'else.test': plain } });
  const failing: typeof verifyWithHelper = async () => {
    throw new Error('The server does not answer.');
  };
  await checkNetwork(id, failing);
  await suspect('page.test');
  await checkNetwork(id, verify, Date.now() + 2 * HOUR_MS);
  expect(plans).toEqual([]);
  await suspect('other.test');
  await checkNetwork(id, failing, Date.now() + 2 * HOUR_MS);
  await checkNetwork(id, verify, Date.now() + 2.5 * HOUR_MS);
  expect(plans).toEqual([]);
  await checkNetwork(id, verify, Date.now() + 4 * HOUR_MS);
  expect(plans).toHaveLength(1);
  expect((await loadNetwork())!.udp.policed).toBeGreaterThan(0.9);
});

test('after a load beside those of other tabs it is not checked, but after the next one alone', async () => {
  await checkNetwork(await store({ overlap: 1 }), verify);
  expect(plans).toEqual([]);
  await checkNetwork(await store({ overlap: 0 }), verify);
  expect(plans).toHaveLength(1);
});

test('of pages that load at once, the first has the network checked', async () => {
  const ids = [await store(), await store(), await store()];
  await Promise.all(ids.map((id) => examineNetwork(id, verify)));
  expect(plans).toHaveLength(1);
});

test('what a check has transferred before it failed counts among the day’s data', async () => {
  await ownStorage.remove('verification-data');
  await checkNetwork(await store(), async (_probe, onProgress) => {
    const of = { type: 'probe-progress', id: '1', protocol: 'h2', round: 0 } as const;
    onProgress({ ...of, doneTransfers: 1, allTransfers: 2 });
    throw new Error('A server answered 503.');
  });
  expect(await readBytesToday()).toBe(250_000);
});

test('the network stays as little known as it was where the helper fails', async () => {
  const id = await store();
  await checkNetwork(id, async () => {
    throw new Error('The helper is not installed.');
  });
  expect((await loadNetwork())!.udp.policed).toBeLessThan(0.5);
  expect((await getLoad(id))?.check).toBeUndefined();
});

test.each([
  ['a metered network', { saveData: true }, true],
  ['a cellular network', { type: 'cellular' }, true],
  ['a wired one', { type: 'ethernet', saveData: false }, false],
  ['a browser that does not say', undefined, false],
])('%s', (_what, connection, metered) => {
  expect(isMetered(connection)).toBe(metered);
});

test('a slow link is not checked', async () => {
  const network = learnNetwork(null, loadOf(1).recording);
  const downBps = { mean: Math.log(1e6), spread: 0.2 };
  await checkNetwork(await store({ cluster: { ...network, downBps } }), verify);
  expect(plans).toEqual([]);
});
