import { HOUR_MS, NO_PHASES } from '@hopwise/contract';
import type { NetworkCluster, RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  eraseNetworks,
  forgetNetworks,
  forgetSites,
  learnFromVerification,
  leaveNetwork,
  recallNetwork,
  removeOldNetworks,
} from '../../src/background/network-memory.ts';
import { addLoad, getLoad } from '../../src/storage/loads.ts';
import {
  countOtherNetworks,
  loadNetwork,
  loadNetworkMemory,
  NOTHING_KNOWN,
  saveNetworkMemory,
} from '../../src/storage/network.ts';
import { loadFoundNetwork, saveFoundNetwork } from '../../src/storage/network-key.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import { udpOf, verificationOf } from '../support/verification.ts';
import '../support/own-database.ts';

const HOME = 'h'.repeat(22);
const TRAIN = 't'.repeat(22);

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
});

const goTo = (key: string | null) =>
  saveFoundNetwork({ key, askAgainAtMs: Number.MAX_SAFE_INTEGER, usedAtMs: 0 });

function request(id: number, more: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    id,
    url: `https://page.test/${id}`,
    method: 'GET',
    type: id === 0 ? 'document' : 'image',
    startMs: 100 * id,
    endMs: 100 * id + 160,
    phases: {
      ...NO_PHASES,
      requestStartMs: 100 * id,
      responseStartMs: 100 * id + 60,
    },
    transferBytes: 50_300,
    bodyBytes: 50_000,
    decodedBytes: 50_000,
    initiator: {
      kind: id === 0 ? 'navigation' : 'parser',
      requestId: id === 0 ? null : 0,
      source: 'recorded',
    },
    renderBlocking: null,
    connectionId: null,
    offersH3: null,
    protocol: 'h2',
    status: 200,
    fromCache: false,
    remoteIp: '9.9.9.9',
    ...more,
  };
}

const recordingOf = (
  more: Partial<RecordedRequest> = {},
  recordedAt = new Date().toISOString(),
): Recording => ({
  format: 'hopwise-recording',
  version: 1,
  url: 'https://page.test/',
  recordedAt,
  browser: '',
  pltMs: 500,
  domContentLoadedMs: 300,
  firstContentfulPaintMs: null,
  largestContentfulPaintMs: null,
  requests: [0, 1, 2, 3].map((id) => request(id, more)),
});

test('each load gets the summary of the loads before it, without its own figures', async () => {
  const known = await Promise.all([1, 2, 3].map(() => recallNetwork({ recording: recordingOf() }, true)));
  expect(known.map((cluster) => cluster?.loads)).toEqual([undefined, 1, 2]);
  expect((await loadNetwork())?.loads).toBe(3);
  expect(Object.keys(await ownStorage.get(null))).toEqual(['networks']);
});

test.each(['constructor', '__proto__'])('the host %s has no network but its own', async (host) => {
  const recording = { ...recordingOf(), url: `https://${host}/` };
  const known: unknown[] = [];
  for (let load = 0; load < 3; load++) known.push(await recallNetwork({ recording }, true));
  expect(known).toEqual([null, expect.objectContaining({ loads: 1 }), expect.objectContaining({ loads: 2 })]);
  expect(await loadNetwork(host)).toMatchObject({ loads: 3 });
});

test('a page recorded before its load event is not learned yet', async () => {
  await recallNetwork({ recording: recordingOf() }, true);
  expect((await recallNetwork({ recording: recordingOf() }, false))?.loads).toBe(1);
  expect((await loadNetwork())?.loads).toBe(1);
});

test.each([
  ['from the cache', { fromCache: true, protocol: null }],
  ['from the machine itself', { remoteIp: '127.0.0.1' }],
  ['that failed', { status: 0 }],
])('a load %s belongs to no network', async (_, more) => {
  await recallNetwork({ recording: recordingOf() }, true);
  expect(await recallNetwork({ recording: recordingOf(more) }, true)).toBeNull();
  expect((await loadNetwork())?.loads).toBe(1);
});

test('is forgotten after three days, when the network changed, and when the stored value is invalid', async () => {
  await recallNetwork({ recording: recordingOf() }, true);
  // After a day where deletions from the browser's history are not heard of.
  expect(await loadNetwork(null, Date.now() + 25 * HOUR_MS)).toBeNull();
  vi.stubGlobal('chrome', { ...chrome, history: {} });
  expect(await loadNetwork(null, Date.now() + 71 * HOUR_MS)).not.toBeNull();
  expect(await loadNetwork(null, Date.now() + 73 * HOUR_MS)).toBeNull();
  // It was learned while the clock was wrong.
  expect(await loadNetwork(null, Date.now() - 73 * HOUR_MS)).toBeNull();
  await leaveNetwork();
  expect(await ownStorage.get(null)).toEqual({ networks: {} });
  await ownStorage.set({
    networks: { '': { format: 'hopwise-network-cluster', version: 1, loads: 'many' } },
  });
  expect(await loadNetwork()).toBeNull();
  expect(await recallNetwork({ recording: recordingOf() }, true)).toBeNull();
  expect((await loadNetwork())?.loads).toBe(1);
});

test('a verification’s figures are kept for later loads, and its load counts once', async () => {
  await recallNetwork({ recording: recordingOf() }, true);
  const recording = recordingOf();
  const cluster = await recallNetwork({ recording }, true);
  expect((await loadNetwork())?.udp.policed).toBeLessThan(0.05);
  const udp = { ...udpOf('policed', true), quicBps: 2e6, tcpBps: 20e6 };
  await learnFromVerification({ recording, cluster }, verificationOf({ udp }));
  const kept = await loadNetwork('page.test');
  expect(kept).toMatchObject({ loads: 2, udp: { policed: 1 } });
  expect(Math.exp(kept!.policedBps.mean) / 2e6).toBeCloseTo(1.07, 1);
  // A load of a previous or forgotten network is no evidence for the current one.
  await leaveNetwork();
  await learnFromVerification({ recording, cluster }, verificationOf({ udp }));
  expect(await loadNetwork()).toBeNull();
});

test('when the store fails a load has no summary, and the next one is learned again', async () => {
  vi.spyOn(ownStorage, 'set').mockImplementationOnce(async () => {
    throw new Error('quota exceeded');
  });
  expect(await recallNetwork({ recording: recordingOf() }, true)).toBeNull();
  await recallNetwork({ recording: recordingOf() }, true);
  expect((await loadNetwork())?.loads).toBe(1);
});

test('is forgotten on request, with all predictions based on it', async () => {
  await recallNetwork({ recording: recordingOf() }, true);
  const fields = {
    requestedUrl: '',
    hidesQueries: false,
    verification: null,
    verifiedPrediction: null,
    problem: '',
  };
  const recording = recordingOf();
  const cluster = await recallNetwork({ recording }, true);
  const prediction = { stands: 'for one' } as never;
  const resting = await addLoad({ ...fields, recording, cluster, prediction });
  const alone = await addLoad({ ...fields, recording, cluster: null, prediction });
  await forgetNetworks();
  expect(await loadNetwork()).toBeNull();
  expect(await getLoad(resting)).toMatchObject({ cluster: null, prediction: null });
  expect(await getLoad(alone)).toMatchObject({ prediction });
});

test('a network that is recognised is found again with what its loads showed', async () => {
  await goTo(HOME);
  await recallNetwork({ recording: recordingOf() }, true);
  await recallNetwork({ recording: recordingOf() }, true);
  await goTo(TRAIN);
  expect(await recallNetwork({ recording: recordingOf() }, true)).toBeNull();
  expect(await countOtherNetworks()).toBe(1);
  // A change of network forgets only what is not recognised.
  await leaveNetwork();
  await goTo(HOME);
  expect((await recallNetwork({ recording: recordingOf() }, true))?.loads).toBe(2);
  expect(await eraseNetworks()).toBe(true);
  expect(await ownStorage.get(null)).toEqual({});
});

test('a verification says nothing of a network that was left in the meantime', async () => {
  await goTo(HOME);
  await recallNetwork({ recording: recordingOf() }, true);
  const recording = recordingOf();
  const cluster = await recallNetwork({ recording }, true);
  const udp = { ...udpOf('policed', true), quicBps: 2e6, tcpBps: 20e6 };
  await goTo(TRAIN);
  await recallNetwork({ recording: recordingOf() }, true);
  await learnFromVerification({ recording, cluster, networkKey: HOME }, verificationOf({ udp }));
  expect((await loadNetwork())?.udp.policed).toBeLessThan(0.05);
  await goTo(HOME);
  await learnFromVerification({ recording, cluster, networkKey: HOME }, verificationOf({ udp }));
  expect((await loadNetwork('page.test'))?.udp.policed).toBe(1);
});

/** A load of a site over one protocol, in which each of some requests takes this long, milliseconds. */
function loadOfSite(site: string, protocol: 'h2' | 'h3', ms: number): Recording {
  const recording = recordingOf({ protocol, startMs: 200, endMs: 200 + ms });
  const requests = recording.requests.map((each) => ({ ...each, url: each.url.replace('page.test', site) }));
  requests[0] = { ...requests[0]!, startMs: 0, endMs: 160 };
  return { ...recording, url: `https://${site}/`, pltMs: 200 + ms, requests };
}

test('a site that slows its own HTTP/3 down makes no other page believe that the network does', async () => {
  const learn = (site: string, protocol: 'h2' | 'h3', ms: number) =>
    recallNetwork({ recording: loadOfSite(site, protocol, ms) }, true);
  await learn('throttling.example', 'h2', 120);
  for (let load = 0; load < 12; load++) await learn('throttling.example', 'h3', 2_400);
  expect((await loadNetwork('throttling.example'))!.udp.policed).toBeGreaterThan(0.9);
  for (const site of [null, 'bank.example']) {
    const known = await loadNetwork(site);
    expect(known!.udp.policed).toBeLessThan(0.02);
  }
  expect((await learn('bank.example', 'h2', 120))!.udp.policed).toBeLessThan(0.02);
  // A second site shows the same.
  await learn('unrelated.example', 'h2', 120);
  for (let load = 0; load < 12; load++) await learn('unrelated.example', 'h3', 2_400);
  expect((await loadNetwork())!.udp.policed).toBeGreaterThan(0.9);
  expect((await loadNetwork('bank.example'))!.udp.policed).toBeGreaterThan(0.85);
});

test('what others showed of UDP is forgotten where a site shows that it is hindered no longer', async () => {
  const learn = (site: string) => recallNetwork({ recording: loadOfSite(site, 'h3', 120) }, true);
  await recallNetwork({ recording: recordingOf() }, true);
  const { sites } = await loadNetworkMemory();
  const hindered: NetworkCluster = {
    ...sites['page.test']!,
    loads: 5,
    udp: { open: 0.02, policed: 0.97, blocked: 0.01 },
    policedBps: { mean: Math.log(500_000), spread: 0.1 },
  };
  const known = { 'one.example': hindered, 'two.example': hindered, 'three.example': hindered };
  await saveNetworkMemory({ ...NOTHING_KNOWN, sites: known });
  await learn('new.example');
  expect((await loadNetwork())!.udp.policed, 'a site alone may be treated otherwise').toBeGreaterThan(0.85);
  await learn('one.example');
  expect(Object.keys((await loadNetworkMemory()).sites)).toEqual(['one.example']);
  expect((await loadNetwork('two.example'))!.udp.open).toBeGreaterThan(0.85);
});

test('not where what a site showed of UDP has only faded with time', async () => {
  await recallNetwork({ recording: recordingOf() }, true);
  const { sites } = await loadNetworkMemory();
  const known = { ...sites['page.test']!, udp: { open: 0.02, policed: 0.97, blocked: 0.01 } };
  const fading = { ...known, udp: { open: 0.48, policed: 0.51, blocked: 0.01 } };
  fading.updatedAtMs -= 3 * HOUR_MS;
  await saveNetworkMemory({ ...NOTHING_KNOWN, sites: { 'one.example': known, 'two.example': fading } });
  await recallNetwork({ recording: loadOfSite('two.example', 'h2', 120) }, true);
  const { sites: after } = await loadNetworkMemory();
  expect(after['two.example']!.udp.open).toBeGreaterThan(0.5);
  expect(Object.keys(after)).toContain('one.example');
});

test('a site that is unlike the rest changes nothing, two in a row begin anew', async () => {
  await recallNetwork({ recording: recordingOf() }, true);
  const { sites } = await loadNetworkMemory();
  const withRate = (bps: number) => ({
    ...sites['page.test']!,
    downBps: { mean: Math.log(bps), spread: 0.05 },
  });
  const learn = (site: string, ms: number) => recallNetwork({ recording: loadOfSite(site, 'h2', ms) }, true);
  const [fast, slow] = [withRate(30e6), withRate(1e6)];
  const known = { 'one.example': slow, 'two.example': slow, 'odd.example': fast, 'new.example': fast };
  await saveNetworkMemory({ ...NOTHING_KNOWN, sites: known, unlike: ['odd.example', 'new.example'] });
  const rateOf = async (site: string | null) => Math.exp((await loadNetwork(site))!.downBps.mean) / 1e6;
  expect(await rateOf(null)).toBeCloseTo(1, 6);
  // Its own loads speak for itself.
  expect(await rateOf('odd.example')).toBeCloseTo(30, 6);
  expect(await learn('odd.example', 60)).toMatchObject({ downBps: fast.downBps });
  expect(await loadNetworkMemory()).toMatchObject({ doubtedBy: 'odd.example' });
  expect(await rateOf(null)).toBeCloseTo(1, 6);
  // What is like the rest ends the doubt.
  await learn('one.example', 1_600);
  expect(await loadNetworkMemory()).toMatchObject({
    unlike: ['new.example', 'odd.example'],
    doubtedBy: null,
  });
  for (const site of ['odd.example', 'new.example']) await learn(site, 60);
  expect(await loadNetworkMemory()).toMatchObject({ unlike: [], doubtedBy: null });
  expect(Object.keys((await loadNetworkMemory()).sites).sort()).toEqual(['new.example', 'odd.example']);
});

test('what sites showed is forgotten with them, and only of the last eight anything is kept', async () => {
  const learn = (site: string) => recallNetwork({ recording: loadOfSite(site, 'h2', 120) }, true);
  const sites = Array.from({ length: 9 }, (_, i) => `site-${i}.example`);
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (const site of sites) {
      vi.setSystemTime(Date.now() + 1_000);
      // Each is learned from, though it tells nothing new.
      vi.spyOn(Math, 'random').mockReturnValueOnce(0);
      await learn(site);
    }
  } finally {
    vi.useRealTimers();
  }
  const kept = async () => Object.keys((await loadNetworkMemory()).sites).sort();
  expect(await kept()).toEqual(sites.slice(1));
  await forgetSites((site) => site !== 'site-4.example');
  expect(await kept()).toEqual(['site-4.example']);
});

test('the twenty networks that were used last are kept, for three days', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (let index = 0; index < 21; index++) {
      vi.setSystemTime(Date.parse('2026-11-20T12:00:00Z') + index * 60_000);
      await goTo(`${index}`.padStart(22, '_'));
      await recallNetwork({ recording: recordingOf() }, true);
    }
    expect(await countOtherNetworks()).toBe(19);
    await goTo('_'.repeat(21).concat('0'));
    expect(await loadNetwork()).toBeNull();
    vi.setSystemTime(Date.now() + 72 * HOUR_MS);
    await removeOldNetworks();
    expect(await ownStorage.get(null)).toEqual({});
  } finally {
    vi.useRealTimers();
  }
});

test('a load that cannot be of the same network raises the doubt whether it is', async () => {
  await goTo(HOME);
  for (let load = 0; load < 3; load++) await recallNetwork({ recording: recordingOf() }, true);
  expect((await loadFoundNetwork())?.askAgainAtMs).toBe(Number.MAX_SAFE_INTEGER);
  // 1 Mbit/s, surely; then 50 MB in a tenth of a second.
  const memory = await loadNetworkMemory();
  const slow = { ...memory.sites['page.test']!, downBps: { mean: Math.log(1e6), spread: 0.01 } };
  await saveNetworkMemory({ ...memory, sites: { 'page.test': slow } });
  const faster = { transferBytes: 50_000_300, bodyBytes: 50_000_000, decodedBytes: 50_000_000 };
  expect(await recallNetwork({ recording: recordingOf(faster) }, true)).toBeNull();
  expect(await loadFoundNetwork()).toMatchObject({ key: HOME, askAgainAtMs: 0 });
});

describe('a load beside those of other tabs', () => {
  const SITE = 'page.test';
  /** A load that shared the link all the time. @param ms that each of its requests took */
  const share = (ms: number, protocol: 'h2' | 'h3' = 'h2', recordedAt = new Date().toISOString()) =>
    recallNetwork({ recording: { ...loadOfSite(SITE, protocol, ms), recordedAt }, overlap: 1 }, true);

  test('that is the first on a network shows nothing of it: the first one alone does', async () => {
    expect(await share(4_800)).toBeNull();
    expect(await loadNetwork()).toBeNull();
    expect(await recallNetwork({ recording: loadOfSite(SITE, 'h2', 600), overlap: 0.25 }, true)).toBeNull();
    expect(await loadNetwork()).toMatchObject({ loads: 1 });
  });

  test('says neither that the link is slower nor that HTTP/3 is held back', async () => {
    await recallNetwork({ recording: loadOfSite(SITE, 'h2', 120) }, true);
    const before = await loadNetworkMemory();
    for (let load = 0; load < 4; load++) {
      await share(4_800);
      await share(4_800, 'h3');
    }
    expect(await loadNetworkMemory()).toEqual(before);
    // As one alone would.
    await recallNetwork({ recording: loadOfSite(SITE, 'h3', 4_800) }, true);
    expect(await loadNetworkMemory()).not.toEqual(before);
  });

  test('shows that UDP is open', async () => {
    await recallNetwork({ recording: loadOfSite(SITE, 'h2', 120) }, true);
    const before = (await loadNetworkMemory()).sites[SITE]!;
    expect(before.udp.open).toBeLessThan(0.99);
    await share(60, 'h3');
    const after = (await loadNetworkMemory()).sites[SITE]!;
    expect(after.udp.open).toBeGreaterThan(0.99);
    expect({ ...after, udp: before.udp }).toEqual(before);
  });

  test('is learned like any other where the last ones of its site, on other occasions, were so too', async () => {
    const storeShared = (minutesAgo: number) => {
      const recordedAt = new Date(Date.now() - 60_000 * minutesAgo).toISOString();
      return addLoad({
        requestedUrl: '',
        hidesQueries: false,
        recording: { ...recordingOf({}, recordedAt), url: `https://${SITE}/another` },
        overlap: 1,
        verification: null,
        verifiedPrediction: null,
        prediction: null,
        problem: '',
      });
    };
    // Restored together with it.
    for (const minutesAgo of [0.4, 0.2, 0.1]) await storeShared(minutesAgo);
    await share(120);
    await storeShared(60);
    await share(120);
    expect(await loadNetwork()).toBeNull();
    await storeShared(59);
    await share(120);
    expect(await loadNetwork()).toMatchObject({ loads: 1 });
  });
});
