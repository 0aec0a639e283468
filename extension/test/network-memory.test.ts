import 'fake-indexeddb/auto';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  forgetNetwork,
  forgetNetworks,
  learnFromVerification,
  recallNetwork,
} from '../src/background/network-memory.ts';
import { addLoad, getLoad } from '../src/storage/loads.ts';
import { loadNetwork } from '../src/storage/network.ts';
import { udpOf, verificationOf } from './verification.ts';

const HOUR_MS = 3_600_000;

let stored: Record<string, unknown>;

beforeEach(() => {
  stored = {};
  vi.stubGlobal('chrome', {
    storage: {
      local: {
        get: async (key: string) => structuredClone({ [key]: stored[key] }),
        set: async (items: object) => void Object.assign(stored, structuredClone(items)),
        remove: async (key: string) => void delete stored[key],
      },
    },
  });
});

function request(id: number, more: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    id,
    url: `https://page.test/${id}`,
    method: 'GET',
    type: id === 0 ? 'document' : 'image',
    startMs: 100 * id,
    endMs: 100 * id + 160,
    phases: {
      dnsStartMs: null,
      dnsEndMs: null,
      connectStartMs: null,
      secureStartMs: null,
      connectEndMs: null,
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
  expect(Object.keys(stored)).toEqual(['network']);
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
  expect(await loadNetwork(Date.now() + 71 * HOUR_MS)).not.toBeNull();
  expect(await loadNetwork(Date.now() + 73 * HOUR_MS)).toBeNull();
  await forgetNetwork();
  expect(stored).toEqual({});
  stored.network = { format: 'hopwise-network-cluster', version: 1, loads: 'many' };
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
  const kept = await loadNetwork();
  expect(kept).toMatchObject({ loads: 2, udp: { policed: 1 } });
  expect(Math.exp(kept!.policedBps.mean) / 2e6).toBeCloseTo(1.07, 1);
  // A load of a previous or forgotten network is no evidence for the current one.
  await forgetNetwork();
  await learnFromVerification({ recording, cluster }, verificationOf({ udp }));
  expect(stored).toEqual({});
});

test('when the store fails a load has no summary, and the next one is learned again', async () => {
  vi.spyOn(chrome.storage.local, 'set').mockImplementationOnce(async () => {
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
