import { HOUR_MS, NO_PHASES, type RecordedRequest, type Recording } from '@hopwise/contract';
import type { NetworkCluster } from '@hopwise/pageload-emulator';
import type { StoredLoad } from '../../src/storage/loads.ts';

export const PAGE = 'https://page.test/';
export const START_MS = Date.parse('2026-11-20T12:00:00Z');

/** A summary of earlier loads: which one does not matter. */
export const CLUSTER = { loads: 1 } as NetworkCluster;

export function requestOf(id: number, more: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    id,
    url: `${PAGE}${id === 0 ? '' : id}`,
    method: 'GET',
    type: id === 0 ? 'document' : 'image',
    status: 200,
    protocol: 'h2',
    startMs: 0,
    endMs: 100,
    phases: {
      ...NO_PHASES,
      requestStartMs: 0,
      responseStartMs: 50,
    },
    transferBytes: 10_300,
    bodyBytes: 10_000,
    decodedBytes: 10_000,
    initiator: { kind: 'navigation', requestId: null, source: 'recorded' },
    renderBlocking: null,
    fromCache: false,
    connectionId: null,
    remoteIp: '9.9.9.9',
    offersH3: null,
    ...more,
  };
}

/** Requests whose responses took so long to begin. */
export const waiting = (responseStartMs: number): RecordedRequest[] =>
  [0, 1, 2, 3].map((id) =>
    requestOf(id, { phases: { ...NO_PHASES, requestStartMs: 0, responseStartMs: responseStartMs + id } }),
  );

export const cached = (id: number) =>
  requestOf(id, { fromCache: true, transferBytes: 0, bodyBytes: 0, protocol: null });

/** A full load of one hour after the one before it, on the same network, without pins. */
export function loadOf(
  id: number,
  { recording, ...more }: Partial<Omit<StoredLoad, 'recording'>> & { recording?: Partial<Recording> } = {},
): StoredLoad {
  return {
    id,
    requestedUrl: PAGE,
    hidesQueries: false,
    storedAtMs: 0,
    recording: {
      format: 'hopwise-recording',
      version: 1,
      url: PAGE,
      recordedAt: new Date(START_MS + id * HOUR_MS).toISOString(),
      browser: '',
      pltMs: 1000,
      domContentLoadedMs: 500,
      firstContentfulPaintMs: 300,
      largestContentfulPaintMs: 400,
      largestContentfulPaintUrl: null,
      requests: [requestOf(0), requestOf(1), requestOf(2), requestOf(3)],
      ...recording,
    },
    cluster: CLUSTER,
    pinned: {},
    wasVisible: true,
    prediction: null,
    problem: '',
    verification: null,
    verifiedPrediction: null,
    ...more,
  };
}

/** Full loads with these load times, from `firstId` on. */
export const loadsTaking = (timesMs: number[], firstId = 1, more: Parameters<typeof loadOf>[1] = {}) =>
  timesMs.map((pltMs, index) =>
    loadOf(firstId + index, { ...more, recording: { ...more.recording, pltMs } }),
  );
