import { NO_PHASES } from '@hopwise/contract';
import {
  buildGraph,
  emulate,
  estimateNetwork,
  type PageGraph,
  type RecordedRequest,
  type Recording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';

/** Records an emulated load: six scripts of 60 kB beside six images of 20 kB, all at once after the document. */
function recordingOf(prioritises: boolean): Recording {
  const sketch = [
    { bytes: 3_000 },
    ...Array.from({ length: 12 }, (_, index) => ({
      bytes: index % 2 ? 60_000 : 20_000,
      urgency: index % 2 ? 1 : 3,
      after: [0],
    })),
  ];
  const graph: PageGraph = pageOf(sketch);
  const path = pathOf({ rttMs: 50, downBps: 10e6 });
  const server = serverOf('https://a.test', { prioritises });
  const load = emulate(graph, path, [server], uniform(graph, 'h2'), { waterfall: true });
  const requests = load.entries.map((entry, id): RecordedRequest => {
    const { url, urgency, responseBytes } = graph.activities[id] as Extract<
      PageGraph['activities'][number],
      { kind: 'fetch' }
    >;
    return {
      id,
      url,
      method: 'GET',
      type: id === 0 ? 'document' : urgency === 1 ? 'script' : 'image',
      status: 200,
      protocol: 'h2',
      startMs: entry.startMs,
      endMs: entry.endMs,
      phases: {
        ...NO_PHASES,
        requestStartMs: entry.sentMs,
        responseStartMs: entry.firstByteMs,
      },
      transferBytes: responseBytes,
      bodyBytes: responseBytes,
      decodedBytes: responseBytes,
      initiator: {
        kind: id === 0 ? 'navigation' : 'parser',
        requestId: id === 0 ? null : 0,
        source: 'recorded',
      },
      renderBlocking: id > 0 && urgency === 1,
      fromCache: false,
      connectionId: null,
      remoteIp: null,
      offersH3: null,
    };
  });
  return {
    format: 'hopwise-recording',
    version: 1,
    url: 'https://a.test/',
    recordedAt: '2026-01-01T00:00:00Z',
    browser: '',
    pltMs: load.pltMs,
    domContentLoadedMs: null,
    firstContentfulPaintMs: null,
    largestContentfulPaintMs: null,
    requests,
  };
}

const seenIn = (recording: Recording) => estimateNetwork(recording).servers[0]!.prioritises;

describe('whether a server sends by priority', () => {
  it('is shown by larger urgent responses that end before smaller ones', () => {
    expect(seenIn(recordingOf(true))).toBe(true);
  });

  it('is disproved by larger urgent responses that end after smaller ones', () => {
    expect(seenIn(recordingOf(false))).toBe(false);
  });

  it('is not shown by a page on HTTP/1.1, nor by responses of one urgency', () => {
    const single = recordingOf(true);
    for (const request of single.requests) request.protocol = 'h1';
    expect(seenIn(single)).toBeUndefined();
    const alike = recordingOf(true);
    for (const request of alike.requests) request.type = 'image';
    expect(seenIn(alike)).toBeUndefined();
    expect(buildGraph(alike).activities.length).toBeGreaterThan(0);
  });
});
