import { NO_PHASES } from '@hopwise/contract';
import {
  buildGraph,
  emulate,
  type FetchActivity,
  type PageGraph,
  type Protocol,
  type RecordedRequest,
  type Recording,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { NO_COSTS } from '../../src/client/client-costs.ts';
import { connectionPools } from '../../src/graph/connection-pools.ts';
import { inOrder } from '../support/in-order.ts';
import { pageOf, ROUND_TRIPS_ONLY, serverOf, uniform } from '../support/pages.ts';

function loadTime(graph: PageGraph): number {
  return emulate(graph, ROUND_TRIPS_ONLY, [serverOf('https://a.test')], uniform(graph, 'h2')).pltMs;
}

describe('the browser’s own time', () => {
  it('handles requests one after the other, and responses too', () => {
    const graph = pageOf([{ bytes: 1_000 }, { bytes: 1_000 }, { bytes: 1_000 }]);
    // 5 a request before the first handshake begins, 300, then 7 for each of three responses.
    graph.client = { ...NO_COSTS, requestMs: 5, responseMs: 7 };
    expect(loadTime(graph)).toBeCloseTo(5 + 300 + 3 * 7, 1);
  });

  it('delays all requests and responses by the same time', () => {
    const graph = pageOf([{ bytes: 1_000 }, { bytes: 1_000 }, { bytes: 1_000 }]);
    graph.client = { ...NO_COSTS, requestDelayMs: 5, responseDelayMs: 7 };
    expect(loadTime(graph)).toBeCloseTo(5 + 300 + 7, 1);
  });

  it('delays the requests that a response leads to', () => {
    const graph = pageOf([{ bytes: 1_000 }, { bytes: 1_000, after: [0] }]);
    graph.client = { ...NO_COSTS, requestMs: 5, responseMs: 7 };
    expect(loadTime(graph)).toBeCloseTo(5 + 300 + 7 + 5 + 100 + 7, 1);
  });

  it('issues requests, handles responses and runs scripts on one main thread', () => {
    const graph = pageOf([
      { bytes: 1_000 },
      { bytes: 1_000, after: [0] },
      { bytes: 1_000, after: [0] },
      { bytes: 1_000, after: [0] },
    ]);
    graph.client = { ...NO_COSTS, issueMs: 5, handleMs: 7 };
    // The navigation takes 300 and is handled in 7; the third request is issued after 3 × 5. It returns after 100, when the
    // first two responses, 10 and 5 earlier, have occupied the main thread until 4 later.
    expect(loadTime(graph)).toBeCloseTo(300 + 7 + 3 * 5 + 100 + 4 + 7, 1);
  });

  it('adds its own time to each run of a script', () => {
    const graph = pageOf([{ bytes: 1_000 }]);
    graph.activities.push({
      kind: 'compute',
      id: 1,
      requestId: 0,
      durationMs: 20,
      blocksLoad: true,
      after: [{ activity: 0, kind: 'execution', fraction: 1, source: 'recorded' }],
    });
    graph.client = { ...NO_COSTS, runMs: 6 };
    expect(loadTime(graph)).toBeCloseTo(300 + 20 + 6, 1);
  });

  it('delays acknowledgements of QUIC only', () => {
    // 70 packets take more than one window of either.
    const graph = pageOf([{ bytes: 70 * 1_430 }]);
    const times = (quicPacketMs: number) => {
      graph.client = { ...NO_COSTS, quicPacketMs };
      return (['h2', 'h3'] as const).map(
        (protocol) => emulate(graph, ROUND_TRIPS_ONLY, [], uniform(graph, protocol)).pltMs,
      ) as [number, number];
    };
    const [tcp, quic] = times(0);
    const [tcpReading, quicReading] = times(0.5);
    expect(tcpReading).toBe(tcp);
    expect(quicReading).toBeGreaterThan(quic + 5);
  });
});

describe('HyStart over QUIC', () => {
  it('mistakes a busy browser for a queue', () => {
    // Thirty requests at once: 60 ms in which the first packets lie unread. Then the window grows by one a round.
    const graph = pageOf([
      { bytes: 1_000 },
      ...Array.from({ length: 30 }, () => ({ bytes: 30_000, after: [0] })),
    ]);
    const path = { ...ROUND_TRIPS_ONLY, rttMs: 20 };
    const time = (requestMs: number) => {
      graph.client = { ...NO_COSTS, requestMs };
      return emulate(graph, path, [], uniform(graph, 'h3')).pltMs;
    };
    expect(time(2)).toBeGreaterThan(time(0) + 31 * 2 + 5 * 20);
  });
});

describe('the document’s head', () => {
  /** Document, a blocker, and requests of low priority; the parser needs 50 ms after the blocker. */
  function page(low: number): PageGraph {
    const graph = pageOf([
      { bytes: 1_000 },
      { bytes: 1_000, after: [0] },
      ...Array.from({ length: low }, () => ({ bytes: 1_000, after: [0] })),
    ]);
    for (const activity of graph.activities.slice(2) as FetchActivity[]) activity.hold = 'turns';
    const id = graph.activities.length;
    graph.activities.push({
      kind: 'compute',
      id,
      requestId: 0,
      durationMs: 50,
      blocksLoad: true,
      after: [{ activity: 1, kind: 'execution', fraction: 1, source: 'inferred' }],
    });
    graph.head = id;
    return graph;
  }

  it('lets two low-priority requests go at a time until it ends', () => {
    // Document 300; two low ones and the blocker 400; the next two leave at 400; the head ends at 450.
    expect(loadTime(page(2))).toBeCloseTo(450, 1);
    expect(loadTime(page(4))).toBeCloseTo(500, 1);
    // The others leave at 450.
    expect(loadTime(page(9))).toBeCloseTo(550, 1);
  });
});

describe('low-priority requests', () => {
  const origins = ['https://a.test', 'https://b.test', 'https://c.test'];
  const time = (urgency: number, protocol: Protocol, server: Partial<ServerProfile> = {}) => {
    const requests = Array.from({ length: 15 }, (_, index) => ({ bytes: 1_000, origin: index % 3, urgency }));
    const graph = pageOf(requests, origins);
    const servers = origins.map((origin) => ({ ...serverOf(origin), ...server }));
    return emulate(graph, ROUND_TRIPS_ONLY, servers, uniform(graph, protocol)).pltMs;
  };

  it('are limited to ten at a time on HTTP/1.1, over all origins', () => {
    // Ten on new connections at 300; the other five on those at 400.
    expect(time(3, 'h1')).toBeCloseTo(400, 1);
    expect(time(1, 'h1')).toBeCloseTo(300, 1);
  });

  it('are limited to ten at a time until the server is known to multiplex', () => {
    // The other five leave when the first responses end.
    expect(time(3, 'h2')).toBeCloseTo(400, 1);
    expect(time(3, 'h3')).toBeCloseTo(300, 1);
    expect(time(1, 'h2')).toBeCloseTo(300, 1);
    expect(time(1, 'h3')).toBeCloseTo(200, 1);
    expect(time(3, 'h2', { session: { tcp: 'resumed' } })).toBeCloseTo(300, 1);
    expect(time(3, 'h3', { h3Discovery: 'known' })).toBeCloseTo(200, 1);
  });
});

describe('connection pools', () => {
  it('do not share connections', () => {
    const graph = pageOf([{ bytes: 1_000 }, { bytes: 1_000, after: [0] }]);
    expect(loadTime(graph)).toBeCloseTo(400, 1);
    const apart = structuredClone(graph);
    (apart.activities[1] as FetchActivity).pool = 1;
    expect(loadTime(apart)).toBeCloseTo(600, 1);
    const { origins } = emulate(apart, ROUND_TRIPS_ONLY, [], uniform(apart, 'h2'));
    expect(origins).toHaveLength(1);
    expect(origins[0]).toMatchObject({ requests: 2, connections: 2 });
  });
});

describe('the head in a recording', () => {
  const request = (
    id: number,
    startMs: number,
    sentMs: number,
    endMs: number,
    changes: Partial<RecordedRequest> = {},
  ): RecordedRequest => ({
    id,
    url: `https://a.test/${id}`,
    method: 'GET',
    type: 'image',
    status: 200,
    protocol: 'h2',
    startMs,
    endMs,
    phases: {
      ...NO_PHASES,
      requestStartMs: sentMs,
      responseStartMs: endMs - 5,
    },
    transferBytes: 1_000,
    bodyBytes: 700,
    decodedBytes: 700,
    initiator: { kind: 'parser', requestId: 0, source: 'recorded' },
    renderBlocking: false,
    fromCache: false,
    connectionId: null,
    remoteIp: null,
    offersH3: false,
    ...changes,
  });
  const style = request(1, 100, 101, 150, { type: 'style', renderBlocking: true });
  const recordingOf = (later: RecordedRequest[]): Recording =>
    inOrder({
      format: 'hopwise-recording',
      version: 1,
      url: 'https://a.test/0',
      recordedAt: '2026-01-01T00:00:00Z',
      browser: '',
      pltMs: 400,
      domContentLoadedMs: null,
      firstContentfulPaintMs: null,
      largestContentfulPaintMs: null,
      requests: [
        request(0, 0, 1, 90, {
          type: 'document',
          initiator: { kind: 'navigation', requestId: null, source: 'recorded' },
        }),
        style,
        ...later,
      ],
    });

  it('ends when a third low-priority request is sent beside two others', () => {
    const graph = buildGraph(
      recordingOf([
        request(2, 100, 102, 160),
        request(3, 100, 102, 170),
        request(4, 100, 161, 230),
        request(5, 100, 190, 240),
        request(6, 100, 191, 240),
      ]),
    );
    // The first took its turn at 161 and 3 ended at 170, so 5 is the second at 190 and 6 the third at 191.
    const head = graph.activities[graph.head!]!;
    expect(head).toMatchObject({ kind: 'compute', after: [{ activity: 1 }] });
    expect(head.kind === 'compute' && head.durationMs).toBeCloseTo(191 - 150, 6);
    expect(graph.activities.filter((each) => each.kind === 'fetch' && each.hold)).toHaveLength(5);
  });

  it('holds back images whose blocking the recorder does not report', () => {
    const silent = { renderBlocking: null };
    const graph = buildGraph(
      recordingOf([
        request(2, 100, 102, 160, silent),
        request(3, 100, 102, 170, silent),
        request(4, 100, 161, 230, silent),
        request(5, 100, 190, 240, silent),
        request(6, 100, 191, 240, silent),
        request(7, 100, 192, 240, { ...silent, type: 'script' }),
      ]),
    );
    const held = graph.activities.filter((each) => each.kind === 'fetch' && each.hold);
    expect(held.map((each) => each.kind === 'fetch' && each.requestId)).toEqual([2, 3, 4, 5, 6]);
  });

  it('makes a blocking script wait for the blocking scripts before it only', () => {
    const blocking = { type: 'script', renderBlocking: true } as const;
    const graph = buildGraph(
      recordingOf([
        request(2, 100, 101, 300, blocking),
        request(3, 100, 101, 150, blocking),
        request(4, 100, 101, 150, { type: 'script' }),
        request(5, 310, 311, 350, { initiator: { kind: 'script', requestId: 3, source: 'recorded' } }),
        request(6, 170, 171, 190, { initiator: { kind: 'script', requestId: 4, source: 'recorded' } }),
      ]),
    );
    const executions = graph.activities.filter((each) => each.kind === 'compute' && each.after.length < 4);
    const fetchOf = (id: number) =>
      graph.activities.find((each) => each.kind === 'fetch' && each.requestId === id)!.id;
    // 3 lies ready from 150 on, and is executed once 2 is there at 300: 10 ms of work, not 160.
    expect(executions).toMatchObject([
      { requestId: 4, durationMs: 20, after: [{ activity: fetchOf(4) }] },
      { requestId: 3, durationMs: 10, after: [{ activity: fetchOf(3) }, { activity: fetchOf(2) }] },
    ]);
  });

  it('makes a deferred script wait for executions of earlier ones between its arrival and its own', () => {
    const asked = (requestId: number) =>
      ({ initiator: { kind: 'script', requestId, source: 'recorded' }, type: 'script' }) as const;
    const page = (firstAsksMs: number) =>
      buildGraph(
        recordingOf([
          request(2, 100, 101, 200, { type: 'script' }),
          request(3, 100, 101, 150, { type: 'script' }),
          request(4, firstAsksMs, firstAsksMs, firstAsksMs + 5, asked(2)),
          request(5, 240, 240, 260, asked(3)),
        ]),
      );
    const workOf = (graph: PageGraph, requestId: number) =>
      graph.activities.find((each) => each.kind === 'compute' && each.requestId === requestId)!;
    // 2 arrived at 200 and made its request at 225; 3, there since 150, made its request at 240.
    const ordered = page(225);
    expect(workOf(ordered, 3)).toMatchObject({
      durationMs: 15,
      after: [{}, { activity: workOf(ordered, 2).id }],
    });
    // If the request of 2 comes after its own, it did not wait for 2.
    const free = page(245);
    expect(workOf(free, 3)).toMatchObject({ durationMs: 90, after: [{}] });
  });

  it('makes a module wait for the end of the head when its request came only then', () => {
    const asked = {
      initiator: { kind: 'script', requestId: 7, source: 'recorded' },
      type: 'script',
    } as const;
    const graph = buildGraph(
      recordingOf([
        request(2, 100, 102, 160),
        request(3, 100, 102, 170),
        request(4, 100, 161, 230),
        request(5, 100, 190, 240),
        request(6, 100, 191, 240),
        request(7, 100, 101, 155, { type: 'script' }),
        request(8, 200, 200, 220, asked),
      ]),
    );
    const work = graph.activities.find((each) => each.kind === 'compute' && each.requestId === 7)!;
    expect(work.after.map(({ activity }) => activity)).toContain(graph.head);
    expect(graph.activities[graph.head!]!.id).toBeLessThan(work.id);
  });

  it('is absent when nothing was held back', () => {
    expect(buildGraph(recordingOf([request(2, 100, 102, 160)])).head).toBeUndefined();
  });

  it('gives fonts without credentials and frames of other sites connections of their own', () => {
    const inFrame = { initiator: { kind: 'parser' as const, requestId: 2, source: 'recorded' as const } };
    const poolsIn = (browser: string, changes: Partial<RecordedRequest> = {}) => {
      const recording = recordingOf([
        request(2, 100, 102, 160, { url: 'https://ad.test/', type: 'iframe' }),
        request(3, 165, 166, 190, { ...inFrame, ...changes }),
        request(4, 166, 167, 190, { ...inFrame, type: 'font', url: 'https://fonts.test/g' }),
        request(5, 170, 171, 190, { type: 'font', url: 'https://fonts.test/f' }),
        request(6, 170, 171, 190, { type: 'font', ...changes }),
        request(7, 170, 171, 190, { type: 'iframe', url: 'https://static.a.test/' }),
      ]);
      return connectionPools({ ...recording, browser }).slice(2);
    };
    expect(poolsIn('Chrome 156.0.8078.79')).toEqual([2, 2, 3, 1, 0, 0]);
    // Their sites share what the page's site has.
    expect(poolsIn('Firefox 145.0')).toEqual([0, 0, 1, 1, 0, 0]);
    // A connection that carried requests of page and frame: an older browser.
    expect(poolsIn('', { connectionId: '7' })).toEqual([0, 0, 1, 1, 0, 0]);
  });

  it('recognises requests without credentials by a second connection beside the first', () => {
    const on = (connectionId: string, protocol: 'h1' | 'h2' | 'h3' = 'h2') => ({
      type: 'script' as const,
      url: 'https://static.a.test/s.js',
      connectionId,
      protocol,
    });
    const asked = (requestId: number) => ({
      initiator: { kind: 'script' as const, requestId, source: 'recorded' as const },
    });
    const poolsOf = (...requests: RecordedRequest[]) =>
      buildGraph(recordingOf(requests))
        .activities.filter((each) => each.kind === 'fetch')
        .map(({ pool }) => pool ?? 0)
        .slice(2);

    expect(poolsOf(request(2, 100, 102, 160, on('a')), request(3, 101, 103, 140, on('b')))).toEqual([0, 1]);
    // It may have replaced one that was closed.
    expect(poolsOf(request(2, 100, 102, 160, on('a')), request(3, 160, 163, 190, on('b')))).toEqual([0, 0]);
    // HTTP/1.1 has several connections anyway.
    expect(
      poolsOf(request(2, 100, 102, 160, on('a', 'h1')), request(3, 101, 103, 140, on('b', 'h1'))),
    ).toEqual([0, 0]);
    // Imports of a module have its credentials mode, under another protocol too.
    expect(
      poolsOf(
        request(2, 100, 102, 160, on('a')),
        request(3, 101, 103, 140, on('b')),
        request(4, 150, 152, 180, { ...on('c', 'h3'), ...asked(3) }),
        request(5, 160, 162, 180, { ...on('d', 'h3'), ...asked(2) }),
      ),
    ).toEqual([0, 1, 1, 0]);
  });

  it('derives a redirect’s think time from its duration when its phases were withheld', () => {
    const recording = recordingOf([]);
    const [document] = recording.requests as [RecordedRequest];
    Object.assign(document, { startMs: 300, endMs: 390 });
    document.phases = { ...document.phases, requestStartMs: 361, responseStartMs: 385 };
    Object.assign(document.phases, { connectStartMs: 301, secureStartMs: 321, connectEndMs: 341 });
    const phases = Object.fromEntries(Object.keys(style.phases).map((name) => [name, null]));
    const redirect = request(0, 0, 0, 280, {
      type: 'document',
      status: 301,
      url: 'https://b.test/',
      phases: phases as unknown as RecordedRequest['phases'],
      initiator: { kind: 'navigation', requestId: null, source: 'recorded' },
    });
    recording.requests = [
      redirect,
      { ...document, id: 1, initiator: { ...document.initiator, requestId: 0 } },
    ];
    // 280 less two round trips of 20 for the handshakes and one for the request itself.
    expect((buildGraph(recording).activities[0] as FetchActivity).thinkMs).toBeCloseTo(220, 6);
  });
});
