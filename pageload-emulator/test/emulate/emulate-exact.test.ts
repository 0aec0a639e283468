import {
  emulate,
  type PageGraph,
  type Protocol,
  type ServerProfile,
  type WaterfallEntry,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { type FetchSketch, pageOf, pathOf, ROUND_TRIPS_ONLY, serverOf, uniform } from '../support/pages.ts';

/** Load time where only round trips of 100 ms count. */
function roundTripTime(
  protocol: Protocol,
  fetches: FetchSketch[],
  server: Partial<ServerProfile> = {},
): number {
  const graph = pageOf(fetches);
  return emulate(graph, ROUND_TRIPS_ONLY, [serverOf(graph.origins[0]!, server)], uniform(graph, protocol))
    .pltMs;
}

/** The requests of a load where only round trips of 100 ms count. */
function entriesOver(protocol: Protocol, graph: PageGraph): WaterfallEntry[] {
  const servers = [serverOf(graph.origins[0]!)];
  return emulate(graph, ROUND_TRIPS_ONLY, servers, uniform(graph, protocol), { waterfall: true }).entries;
}

describe('handshakes', () => {
  const small = [{ bytes: 1_000 }];

  it('takes 3 round trips over TCP and TLS 1.3', () => {
    // SYN 100 + TLS 100 + request 100
    expect(roundTripTime('h1', small)).toBeCloseTo(300, 2);
    expect(roundTripTime('h2', small)).toBeCloseTo(300, 2);
  });

  it('takes 4 round trips over TCP and TLS 1.2', () => {
    // SYN 100 + TLS 2 · 100 + request 100
    expect(roundTripTime('h2', small, { tlsVersion: '1.2' })).toBeCloseTo(400, 2);
  });

  it('takes 2 round trips over QUIC, whatever TLS version TCP has', () => {
    // QUIC with TLS 100 + request 100
    expect(roundTripTime('h3', small)).toBeCloseTo(200, 2);
    expect(roundTripTime('h3', small, { tlsVersion: '1.2' })).toBeCloseTo(200, 2);
  });

  it('has no TLS on a plain http origin', () => {
    const graph = pageOf(small, ['http://a.test']);
    // SYN 100 + request 100
    expect(emulate(graph, ROUND_TRIPS_ONLY, [], {}).pltMs).toBeCloseTo(200, 2);
  });

  it('adds name resolution once, think time a request, and the extra round trip each time', () => {
    const chain = [{ bytes: 1_000 }, { bytes: 1_000, after: [0] }];
    // 30 DNS + 2 · 120 handshake + (120 + 40) + (120 + 40)
    const time = roundTripTime('h2', chain, { dnsMs: 30, thinkMs: 40, extraRttMs: 20 });
    expect(time).toBeCloseTo(590, 2);
  });

  it('leaves the link to others while a name is being resolved', () => {
    const origins = ['https://a.test', 'https://b.test'];
    const graph = pageOf(
      [{ bytes: 1_000 }, { bytes: 1_000, origin: 1, after: [0] }, { bytes: 1_000, after: [0] }],
      origins,
    );
    const servers = [serverOf(origins[0]!), serverOf(origins[1]!, { dnsMs: 5_000 })];
    const { entries } = emulate(graph, ROUND_TRIPS_ONLY, servers, uniform(graph, 'h2'), { waterfall: true });
    // 300 the document; then 5000 DNS + 200 handshake + 100, beside 100 on the open connection
    expect(entries.map(({ endMs }) => Math.round(endMs))).toEqual([300, 5_600, 400]);
  });

  it('serialises the certificate on a slow link', () => {
    // 1 Mbit/s is 125 B/ms; upstream as good as infinite, RTT 100.
    const path = pathOf({ rttMs: 100, downBps: 1e6, upBps: 1e12 });
    const graph = pageOf([{ bytes: 1_000 }]);
    const time = emulate(graph, path, [serverOf('https://a.test')], { 'https://a.test': 'h2' }).pltMs;
    // 300 + (60 SYN/ACK + 3700 TLS + 1000 response + 70 its packet) / 125 = 300 + 38.64
    expect(time).toBeCloseTo(338.64, 1);
  });
});

describe('a response that its server makes slowly', () => {
  it.each<[Protocol, number]>([
    ['h1', 300],
    ['h2', 300],
    ['h3', 200],
  ])('takes the server’s time longer over %s', (protocol, onceMs) => {
    // Two parts, 800 ms apart.
    expect(roundTripTime(protocol, [{ bytes: 2_000, bodyMs: 800 }])).toBeCloseTo(onceMs + 800, 1);
    // Twenty parts of 16 kB, each of which fits into the initial window.
    expect(roundTripTime(protocol, [{ bytes: 320_000, bodyMs: 1_900 }])).toBeCloseTo(onceMs + 1_900, 0);
  });

  it('lets other responses on its connection pass', () => {
    const graph = pageOf([{ bytes: 2_000, bodyMs: 800 }, { bytes: 2_000 }]);
    const entries = entriesOver('h2', graph);
    expect(entries.map(({ endMs }) => Math.round(endMs))).toEqual([1_100, 300]);
  });

  it('satisfies what waits for its first part with that part', () => {
    const graph = pageOf([
      { bytes: 24_000, bodyMs: 900 },
      { bytes: 1_000, after: [0] },
    ]);
    Object.assign(graph.activities[1]!.after[0]!, { fraction: 0.5 });
    const entries = entriesOver('h2', graph);
    // Two parts, 900 ms apart, the first with the first byte.
    expect(entries[1]!.startMs).toBeCloseTo(300, 0);
    expect(entries[0]!.endMs).toBeCloseTo(1_200, 0);
  });

  it('satisfies what waits for its beginning with its first byte', () => {
    const graph = pageOf([
      { bytes: 24_000, bodyMs: 900 },
      { bytes: 1_000, after: [0] },
    ]);
    Object.assign(graph.activities[1]!.after[0]!, { fraction: 0 });
    const entries = entriesOver('h2', graph);
    expect(entries[1]!.startMs).toBeCloseTo(300, 0);
  });

  it('holds up the next response on its HTTP/1.1 connection', () => {
    const slow = Array.from({ length: 6 }, () => ({ bytes: 2_000, bodyMs: 500, after: [0] }));
    const graph = pageOf([{ bytes: 1_000 }, ...slow, { bytes: 1_000, after: [0] }]);
    const entries = entriesOver('h1', graph);
    // 300 the document; on its connection 100 and 500 of the first slow one, then 100.
    expect(entries[7]!.endMs).toBeCloseTo(1_000, 0);
  });
});

describe('slow start', () => {
  it('doubles from an initial window of 10 over TCP', () => {
    // 70 packets of 1430 bytes: 10 + 20 + 40, so two round trips after the first.
    expect(roundTripTime('h2', [{ bytes: 70 * 1_430 }])).toBeCloseTo(300 + 2 * 100, 1);
    // One packet more takes one more.
    expect(roundTripTime('h2', [{ bytes: 71 * 1_430 }])).toBeCloseTo(300 + 3 * 100, 1);
  });

  it('fits 10 packets into the first round trip and 11 into the second', () => {
    expect(roundTripTime('h1', [{ bytes: 14_300 }])).toBeCloseTo(300, 1);
    expect(roundTripTime('h1', [{ bytes: 14_301 }])).toBeCloseTo(400, 1);
  });

  it('paces the initial window of 32 over QUIC', () => {
    // 10 packets at once, the other 22 at 1.25 · 32 packets a round trip: 22 / 0.4 per ms = 55 ms.
    expect(roundTripTime('h3', [{ bytes: 32 * 1_300 }])).toBeCloseTo(200 + 55, 1);
  });

  it('fills a clean link: a long transfer takes its bytes over the rate', () => {
    // 10 MB at 20 Mbit/s: 1500 bytes on the wire for 1430, 4.196 s, and no more than 5% above it and the start.
    const graph = pageOf([{ bytes: 10e6 }]);
    for (const protocol of ['h1', 'h2', 'h3'] as const) {
      const time = emulate(graph, pathOf(), [serverOf('https://a.test')], uniform(graph, protocol)).pltMs;
      expect(time).toBeGreaterThan(4_160);
      expect(time).toBeLessThan(4_196 * 1.05 + 250);
    }
  });
});

describe('responses on one connection', () => {
  /** Ends of two responses of 70 and 60 packets, the second more urgent, in round trips of 100 ms. */
  function ends(prioritises?: boolean, protocol: Protocol = 'h2'): number[] {
    const graph = pageOf([
      { bytes: 70 * 1_430, incremental: false, urgency: 3 },
      { bytes: 60 * 1_430, incremental: false, urgency: 1 },
    ]);
    const server = serverOf('https://a.test', prioritises === undefined ? {} : { prioritises });
    const { entries } = emulate(graph, ROUND_TRIPS_ONLY, [server], uniform(graph, protocol), {
      waterfall: true,
    });
    return entries.map(({ endMs }) => endMs);
  }

  it('take turns at a server that ignores priorities, as most servers do', () => {
    // 130 packets: 10 + 20 + 40 + 60; both have their last ones in the fourth window.
    expect(ends().map(Math.round)).toEqual([600, 600]);
    expect(ends(false)).toEqual(ends());
  });

  it('go by urgency at a server that honours priorities, behind what it has written to a TCP socket', () => {
    // The socket takes 80,000 bytes of the one that is ready first, 56 packets: the urgent one follows in the third window.
    expect(ends(true).map(Math.round)).toEqual([600, 600]);
    const [lesser, urgent] = ends(true, 'h3');
    expect(urgent).toBeLessThan(lesser!);
  });
});

describe('HTTP/1.1 pool', () => {
  const documents = (count: number) => Array.from({ length: count }, () => ({ bytes: 1_000, urgency: 1 }));

  it('carries six requests at once and the seventh after one of them', () => {
    expect(roundTripTime('h1', documents(6))).toBeCloseTo(300, 1);
    // 300 for the first six, then 100 for the seventh on a warm connection.
    expect(roundTripTime('h1', documents(7))).toBeCloseTo(400, 1);
    // 6 + 6 + 1
    expect(roundTripTime('h1', documents(13))).toBeCloseTo(500, 1);
  });

  it('carries them all at once on HTTP/2 and HTTP/3', () => {
    expect(roundTripTime('h2', documents(10))).toBeCloseTo(300, 1);
    expect(roundTripTime('h3', documents(10))).toBeCloseTo(200, 1);
    // Small responses apart are a packet each: Linux's window of 10 holds 10 of them, QUIC's 41,600 bytes more.
    expect(roundTripTime('h2', documents(11))).toBeCloseTo(400, 1);
    // A burst of 10 packets holds 12 responses of 1000 / 1300 packets; the last waits for pacing, 0.4 packets a millisecond.
    expect(roundTripTime('h3', documents(13))).toBeLessThan(205);
  });

  it('opens connections beside the one it has', () => {
    // Document 0 to 300. Its connection then carries 1 (400), 2 (500), 3 (600); five new ones are ready
    // at 500 and carry 4 to 8 (600); all six are free at 600 for the last four (700).
    const page = [{ bytes: 1_000 }, ...Array.from({ length: 12 }, () => ({ bytes: 1_000, after: [0] }))];
    expect(roundTripTime('h1', page)).toBeCloseTo(700, 1);
    // On HTTP/2 they all leave at 300; the window of 10 (11 by then) lets two wait for another round trip.
    expect(roundTripTime('h2', page.slice(0, 11))).toBeCloseTo(400, 1);
  });

  it('counts requests that waited for a connection', () => {
    const graph = pageOf(documents(8));
    const { origins } = emulate(graph, ROUND_TRIPS_ONLY, [serverOf('https://a.test')], uniform(graph, 'h1'));
    expect(origins[0]).toMatchObject({ connections: 6, waitedForConnection: 2, waitedForHandshake: 6 });
    // Both waited from 0 to 300.
    expect(origins[0]!.connectionWaitMs).toBeCloseTo(600, 1);
  });
});

describe('dependencies and computing', () => {
  it('starts a fetch when the part of its parent that it needs has arrived', () => {
    const graph = pageOf([{ bytes: 69 * 1_430 }, { bytes: 1_000, after: [0] }]);
    const server = [serverOf('https://a.test')];
    const whole = emulate(graph, ROUND_TRIPS_ONLY, server, uniform(graph, 'h2')).pltMs;
    graph.activities[1]!.after[0]!.fraction = 0.1;
    const early = emulate(structuredClone(graph), ROUND_TRIPS_ONLY, server, uniform(graph, 'h2')).pltMs;
    // Whole: 500, then 100. A tenth arrives with the first flight (300); its response shares the third with the rest.
    expect(whole).toBeCloseTo(600, 1);
    expect(early).toBeCloseTo(500, 1);
  });

  it('serialises the main thread', () => {
    const graph = pageOf([{ bytes: 1_000 }]);
    for (const id of [1, 2]) {
      graph.activities.push({
        kind: 'compute',
        id,
        requestId: 0,
        durationMs: 50,
        blocksLoad: true,
        after: [{ activity: 0, kind: 'execution', fraction: 1, source: 'inferred' }],
      });
    }
    // 200 + 50 + 50
    expect(emulate(graph, ROUND_TRIPS_ONLY, [], uniform(graph, 'h3')).pltMs).toBeCloseTo(300, 1);
  });

  it('waits the delay of an activity', () => {
    const page = [{ bytes: 1_000 }, { bytes: 1_000, after: [0], delayMs: 70 }];
    // 300 + 70 + 100
    expect(roundTripTime('h2', page)).toBeCloseTo(470, 1);
  });

  it('separates what the load event waits for from what it does not', () => {
    const graph = pageOf([{ bytes: 1_000 }, { bytes: 1_000, after: [0] }]);
    graph.activities[1]!.blocksLoad = false;
    const short = emulate(graph, ROUND_TRIPS_ONLY, [], uniform(graph, 'h2'));
    const whole = emulate(graph, ROUND_TRIPS_ONLY, [], uniform(graph, 'h2'), { waterfall: true });
    expect(short.pltMs).toBeCloseTo(300, 1);
    expect(whole.pltMs).toBe(short.pltMs);
    expect(short.firstPaintMs).toBeCloseTo(300, 1);
    expect(
      whole.entries.map(({ startMs, sentMs, endMs }) => [startMs, sentMs, endMs].map(Math.round)),
    ).toEqual([
      [0, 200, 300],
      [300, 300, 400],
    ]);
  });

  it('refuses a path without a rate and a graph with a cycle', () => {
    const graph = pageOf([{ bytes: 1_000 }]);
    expect(() => emulate(graph, pathOf({ downBps: 0 }), [], {})).toThrow(/network path: expected/);
    const loop = pageOf([{ bytes: 1_000, after: [0] }]);
    expect(() => emulate(loop, pathOf(), [], {})).toThrow(/cycle/);
  });
});
