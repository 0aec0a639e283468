import {
  emulate,
  type FetchActivity,
  type NetworkPath,
  type PageGraph,
  type Protocol,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import type { Emulated } from '../../src/emulate/emulate.ts';
import { type FetchSketch, pageOf, pathOf, ROUND_TRIPS_ONLY, serverOf, uniform } from '../support/pages.ts';

interface Load {
  path?: Partial<NetworkPath>;
  server?: Partial<ServerProfile>;
  origins?: string[];
  /** Changes the page before it is loaded. */
  change?: (fetches: FetchActivity[], graph: PageGraph) => void;
}

/** A load on a path with round trips of 100 ms and no transmission time. */
function load(protocol: Protocol, fetches: FetchSketch[], { path, server, origins, change }: Load = {}) {
  const graph: PageGraph = pageOf(fetches, origins);
  change?.(graph.activities as FetchActivity[], graph);
  const servers = graph.origins.map((origin) => serverOf(origin, server));
  return emulate(graph, { ...ROUND_TRIPS_ONLY, ...path }, servers, uniform(graph, protocol), {
    waterfall: true,
  });
}

function ends({ entries }: Emulated): number[] {
  return entries.map(({ endMs }) => Math.round(endMs));
}

const SMALL = { bytes: 1_000 };

describe('name resolution', () => {
  const server = { dnsMs: 30 };

  it('delays all connections to a host', () => {
    // 30 + SYN 100 + TLS 100 + request 100, on both.
    expect(ends(load('h1', [SMALL, SMALL], { server }))).toEqual([330, 330]);
  });

  it('happens once for a host, for all ports and pools', () => {
    const origins = ['https://a.test', 'https://a.test:8443'];
    const page = [SMALL, { ...SMALL, origin: 1, after: [0] }];
    expect(ends(load('h2', page, { server, origins }))).toEqual([330, 630]);
    const change = ([, second]: FetchActivity[]) => {
      second!.pool = 1;
    };
    expect(ends(load('h2', [SMALL, { ...SMALL, after: [0] }], { server, change }))).toEqual([330, 630]);
  });

  it('runs for several hosts in parallel', () => {
    const origins = ['https://a.test', 'https://b.test'];
    expect(ends(load('h3', [SMALL, { ...SMALL, origin: 1 }], { server, origins }))).toEqual([230, 230]);
  });
});

describe('resumed and longer handshakes', () => {
  const time = (protocol: Protocol, server: Partial<ServerProfile>, requestBytes = 400) =>
    Math.round(load(protocol, [{ ...SMALL, requestBytes }], { server }).pltMs);

  it('take one round trip less with False Start or a resumed session under TLS 1.2', () => {
    // SYN 100 + TLS 2 · 100 + request 100
    expect(time('h2', { tlsVersion: '1.2' })).toBe(400);
    expect(time('h2', { tlsVersion: '1.2', falseStart: true })).toBe(300);
    expect(time('h2', { tlsVersion: '1.2', session: { tcp: 'resumed' } })).toBe(300);
  });

  it('save no round trip under TLS 1.3 without early data', () => {
    expect(time('h1', { session: { tcp: 'resumed' } })).toBe(300);
    expect(time('h1', { session: { tcp: 'early-data' } })).toBe(200);
    expect(time('h2', { session: { tcp: 'early-data' } })).toBe(200);
    // A session over TCP is of no use to QUIC.
    expect(time('h3', { session: { tcp: 'early-data' } })).toBe(200);
    expect(time('h3', { session: { quic: 'resumed' } })).toBe(200);
    expect(time('h3', { session: { quic: 'early-data' } })).toBe(100);
  });

  it('hold back requests with bodies until they end', () => {
    expect(time('h3', { session: { quic: 'early-data' } }, 4_000)).toBe(200);
    expect(time('h2', { session: { tcp: 'early-data' } }, 4_000)).toBe(300);
  });

  it('save the certificates on a slow link', () => {
    const path = { downBps: 1e6, upBps: 1e12, queueBytes: 15_000 };
    // 300 + (60 SYN/ACK + TLS + 1000 response + 70 its packet) / 125 bytes a millisecond
    const resumed = { session: { tcp: 'resumed' as const } };
    expect(load('h2', [SMALL], { path }).pltMs).toBeCloseTo(300 + (60 + 3_700 + 1_070) / 125, 1);
    expect(load('h2', [SMALL], { path, server: resumed }).pltMs).toBeCloseTo(
      300 + (60 + 1_450 + 1_070) / 125,
      1,
    );
  });

  it('take one more round trip for a HelloRetryRequest, Retry or version negotiation', () => {
    expect(time('h2', { extraHandshakeRounds: { tcp: 1 } })).toBe(400);
    expect(time('h3', { extraHandshakeRounds: { quic: 1 } })).toBe(300);
    expect(time('h3', { extraHandshakeRounds: { quic: 1 }, session: { quic: 'early-data' } })).toBe(200);
    expect(time('h2', { extraHandshakeRounds: { tcp: 1 }, session: { tcp: 'early-data' } })).toBe(400);
  });
});

describe('discovery of HTTP/3', () => {
  it('from the HTTPS record: QUIC and TCP race from the start', () => {
    const run = load('h3', [SMALL], { server: { h3Discovery: 'https-record' } });
    // QUIC is ready at 100, TCP would be at 200.
    expect(ends(run)).toEqual([200]);
    expect(run.origins[0]).toMatchObject({ requests: 1, connections: 2 });
  });

  it('from Alt-Svc: on HTTP/2 until QUIC is ready, then on HTTP/3', () => {
    const server = { h3Discovery: 'alt-svc' as const };
    const page = [
      SMALL,
      { ...SMALL, after: [0] },
      // 32 packets: 10 at once, 22 paced at 0.4 a millisecond. Over HTTP/2 three windows of 11 and more.
      { bytes: 32 * 1_300, after: [1], delayMs: 10 },
    ];
    // Document over TCP 300; QUIC connects from then to 400, while HTTP/2 takes the next at once: 400.
    expect(ends(load('h3', page, { server }))).toEqual([300, 400, 565]);
    expect(load('h3', page, { server }).origins[0]).toMatchObject({ requests: 3, connections: 2 });
    expect(ends(load('h2', page))[2]).toBeGreaterThanOrEqual(610);
    expect(ends(load('h3', page))).toEqual([200, 300, 465]);
  });

  it('from Alt-Svc by Firefox, which opens QUIC at once: what is asked for later is never on HTTP/2', () => {
    const path = { udp: { kind: 'policed' as const, bps: 1e6 } };
    const server = { h3Discovery: 'alt-svc' as const };
    // 125 bytes a millisecond beyond a full bucket; over HTTP/2 the rate has no limit.
    const page = [SMALL, ...new Array<FetchSketch>(4).fill({ bytes: 125_000, after: [0], delayMs: 150 })];
    const change = (_: FetchActivity[], graph: PageGraph) => {
      graph.opensAnnouncedH3 = true;
    };
    expect(load('h3', page, { path, server }).pltMs).toBeLessThan(1_200);
    expect(load('h3', page, { path, server, change }).pltMs).toBeGreaterThan(3_000);
  });

  it('from Alt-Svc as soon as headers have come, for all pools', () => {
    const page = [{ bytes: 40 * 1_430 }, { ...SMALL, after: [0] }];
    const change = ([, second]: FetchActivity[]) => {
      second!.after[0]!.fraction = 0.1;
      second!.pool = 1;
    };
    // First window at 300; the second pool has no connection yet: QUIC is ready at 400, TCP at 500.
    const run = load('h3', page, { server: { h3Discovery: 'alt-svc' }, change });
    expect(ends(run)[1]).toBe(500);
    expect(run.origins[0]!.connections).toBe(3);
    expect(ends(load('h2', page, { change }))[1]).toBe(600);
  });

  it('from Alt-Svc once for the page and once for the frames of other sites', () => {
    const page = [{ bytes: 40 * 1_430 }, { ...SMALL, after: [0] }, { ...SMALL, after: [1] }];
    const change = ([, second, third]: FetchActivity[]) => {
      second!.after[0]!.fraction = 0.1;
      second!.pool = 2;
      third!.pool = 2;
    };
    const run = load('h3', page, { server: { h3Discovery: 'alt-svc' }, change });
    // The second begins at 300 over TCP, as it would over HTTP/2; QUIC connects from its end on, while HTTP/2 takes the third.
    expect(ends(run).slice(1)).toEqual([600, 700]);
    expect(run.origins[0]!.connections).toBe(3);
  });

  it('is announced by the first response, or the server is never known to multiplex', () => {
    const page = [SMALL, ...new Array<FetchSketch>(8).fill({ ...SMALL, after: [0] })];
    const together = new Array<number>(8).fill(300);
    expect(ends(load('h3', page))).toEqual([200, ...together]);
    // Six low-priority requests to the host, then the other two.
    const last = ends(load('h3', page, { server: { announcesH3: false } })).slice(-2);
    expect(last).toEqual([400, 400]);
  });

  it('without a race once QUIC is known to work', () => {
    const origins = ['https://a.test', 'https://b.test'];
    const page = [SMALL, { ...SMALL, origin: 1, after: [0] }];
    const run = load('h3', page, { server: { h3Discovery: 'https-record' }, origins });
    expect(ends(run)).toEqual([200, 400]);
    expect(run.origins.map(({ connections }) => connections)).toEqual([2, 1]);
  });
});

describe('HTTP/3 that fails', () => {
  const blocked: Partial<NetworkPath> = { udp: { kind: 'blocked' } };

  it('costs the time that the browser waits before it tries TCP', () => {
    // QUIC is known to work: TCP waits 300, during which the name is resolved, then takes 300 as usual.
    expect(ends(load('h3', [SMALL], { path: blocked }))).toEqual([600]);
    expect(ends(load('h3', [SMALL], { path: blocked, server: { dnsMs: 30 } }))).toEqual([600]);
    // QUIC is not known to work: TCP starts at once.
    const server = { h3Discovery: 'https-record' as const };
    expect(ends(load('h3', [SMALL], { path: blocked, server }))).toEqual([300]);
    const altSvc = { h3Discovery: 'alt-svc' as const };
    const chain = [SMALL, { ...SMALL, after: [0] }];
    expect(ends(load('h3', chain, { path: blocked, server: altSvc }))).toEqual([300, 400]);
  });

  it('costs less when the server refuses it', () => {
    // Refused after a round trip, then 300.
    expect(ends(load('h3', [SMALL], { server: { quicHandshake: 'refused' } }))).toEqual([400]);
    expect(ends(load('h3', [SMALL], { server: { quicHandshake: 'refused', dnsMs: 30 } }))).toEqual([430]);
    expect(ends(load('h3', [SMALL], { server: { quicHandshake: 'silent' } }))).toEqual([600]);
  });

  it('falls back to HTTP/1.1 without HTTP/2', () => {
    const server = { offers: { h1: true, h2: false, h3: true } };
    const seven = Array.from({ length: 7 }, () => SMALL);
    // The first connection is ready at 300 + 200; it carries one at a time, the other five 200 later.
    const run = load('h3', seven, { path: blocked, server });
    expect(ends(run)).toEqual([600, 700, 800, 800, 800, 800, 800]);
    expect(run.origins[0]!.connections).toBe(6);
  });
});

describe('UDP that loses more than TCP', () => {
  const graph = pageOf([{ bytes: 300_000 }]);
  const time = (protocol: Protocol, path: Partial<NetworkPath>, seed = 1) =>
    emulate(graph, pathOf(path), [serverOf('https://a.test')], uniform(graph, protocol), { seed }).pltMs;

  const udp = { kind: 'lossy' as const, loss: 0.02 };
  const meanTime = (path: Partial<NetworkPath>) => {
    const seeds = Array.from({ length: 300 }, (_, index) => index + 1);
    return seeds.reduce((sum, seed) => sum + time('h3', path, seed), 0) / seeds.length;
  };

  it('applies to HTTP/3 and not to TCP', () => {
    for (let seed = 1; seed <= 10; seed++)
      expect(time('h2', { udp }, seed)).toBe(time('h2', { udp: { kind: 'open' } }, seed));
    expect(meanTime({ udp }) / meanTime({ loss: 0.02 })).toBeCloseTo(1, 1);
    // 1 − 0.98 · 0.99 of packets with another hundredth on the path.
    expect(meanTime({ udp, loss: 0.01 }) / meanTime({ loss: 1 - 0.98 * 0.99 })).toBeCloseTo(1, 1);
  });

  it('loses single packets, whatever the bursts of the path', () => {
    const bursts = { loss: 1e-6, lossBurst: 5 };
    expect(meanTime({ udp, ...bursts }) / meanTime({ udp })).toBeCloseTo(1, 1);
    // As many packets in bursts meet fewer of the page's round trips.
    expect(meanTime({ loss: 0.02, lossBurst: 5 })).toBeLessThan(0.95 * meanTime({ udp, ...bursts }));
  });
});

describe('connections of several origins', () => {
  const origins = ['https://a.test', 'https://b.test'];
  const server = { connectionGroup: 'a', dnsMs: 30 };
  const chain = [SMALL, { ...SMALL, origin: 1, after: [0] }];

  it('are shared once the name is resolved', () => {
    // 330; then 30 for the name and 100 for the request.
    const run = load('h2', chain, { server, origins });
    expect(ends(run)).toEqual([330, 460]);
    expect(run.origins).toMatchObject([
      { requests: 1, connections: 1 },
      { requests: 1, connections: 0 },
    ]);
    expect(ends(load('h3', chain, { server, origins }))).toEqual([230, 360]);
    // 30 + 300 without.
    expect(ends(load('h2', chain, { server: { dnsMs: 30 }, origins }))).toEqual([330, 660]);
  });

  it('are not shared while they are being opened, between pools or over HTTP/1.1', () => {
    const both = load('h2', [SMALL, { ...SMALL, origin: 1 }], { server, origins });
    expect(ends(both)).toEqual([330, 330]);
    expect(both.origins.map(({ connections }) => connections)).toEqual([1, 1]);
    const change = ([, second]: FetchActivity[]) => {
      second!.pool = 1;
    };
    expect(ends(load('h2', chain, { server, origins, change }))).toEqual([330, 660]);
    expect(ends(load('h1', chain, { server, origins }))).toEqual([330, 660]);
  });
});

describe('limits', () => {
  it('allow 256 open TCP sockets', () => {
    const page = (hosts: number) => {
      const names = Array.from({ length: hosts }, (_, host) => `https://h${host}.test`);
      const fetches = Array.from({ length: 6 * hosts }, (_, at) => ({
        ...SMALL,
        origin: Math.floor(at / 6),
        urgency: 0,
      }));
      return ends(load('h1', fetches, { origins: names }));
    };
    expect(page(42).every((end) => end === 300)).toBe(true);
    const crowded = page(44);
    // 42 · 6 = 252; four for the next host, whose other two follow on them; the last host begins when others idle.
    expect(crowded.slice(252, 258)).toEqual([300, 300, 300, 300, 400, 400]);
    expect(crowded.slice(258)).toEqual([600, 600, 600, 600, 600, 600]);
  });

  it('allow as many concurrent streams as the server does', () => {
    const four = Array.from({ length: 4 }, () => SMALL);
    expect(ends(load('h2', four, { server: { maxStreams: { h2: 2 } } }))).toEqual([300, 300, 400, 400]);
    // QUIC's credit comes back a round trip after a response has ended: 200 + 100 + 100.
    expect(ends(load('h3', four, { server: { maxStreams: { h3: 2 } } }))).toEqual([200, 200, 400, 400]);
    expect(ends(load('h3', four, { server: { maxStreams: { h2: 2 } } }))).toEqual([200, 200, 200, 200]);
  });

  it('send the most urgent request first over HTTP/2, the earliest over HTTP/3', () => {
    const fetches = [3, 3, 1, 0].map((urgency) => ({ ...SMALL, urgency }));
    const chain = [{ ...SMALL, urgency: 0 }, ...fetches.map((fetch) => ({ ...fetch, after: [0] }))];
    const one = { maxStreams: { h2: 1, h3: 1 } };
    // All four are made when the document has arrived, and sent one by one.
    expect(ends(load('h2', chain, { server: one }))).toEqual([300, 600, 700, 500, 400]);
    // 200; each leaves a round trip after the one before it has ended.
    expect(ends(load('h3', chain, { server: one }))).toEqual([200, 400, 600, 800, 1_000]);
  });

  it('are 256 streams in Chromium, whatever the server allows', () => {
    const many = Array.from({ length: 300 }, () => ({ bytes: 10, urgency: 1 }));
    const run = load('h2', many, { server: { maxStreams: { h2: 1_000 }, tcp: HUGE_WINDOW } });
    const times = ends(run);
    expect(times.filter((end) => end === 300)).toHaveLength(256);
    expect(times.filter((end) => end === 400)).toHaveLength(44);
  });
});

const HUGE_WINDOW: ServerProfile['tcp'] = { initialWindow: 1_000, congestionControl: 'cubic' };

describe('connections that a browser opens to be sure', () => {
  it('are one more when a host’s first one has no answer after 250 ms', () => {
    const page = [SMALL, { ...SMALL, after: [0] }, { ...SMALL, after: [0] }];
    // SYN, TLS and request at 300 each. The second connection, begun at 250, is ready at 850.
    expect(ends(load('h1', page, { path: { rttMs: 300 } }))).toEqual([900, 1_200, 1_200]);
    // Answered at 240: none, so the third request takes the one connection after the second.
    expect(ends(load('h1', page, { path: { rttMs: 240 } }))).toEqual([720, 960, 1_200]);
    // The name takes 30 of the 250: unanswered, and the second connection is ready at 970.
    expect(ends(load('h1', page, { path: { rttMs: 240 }, server: { dnsMs: 30 } }))).toEqual([750, 990, 990]);
    // Asked at 270 and answered at 470, before the look at 500.
    const slowName = { path: { rttMs: 200 }, server: { dnsMs: 270 } };
    expect(ends(load('h1', page, slowName))).toEqual([870, 1_070, 1_270]);
  });

  it('replace a lost SYN', () => {
    const graph = pageOf([SMALL]);
    const path = { ...ROUND_TRIPS_ONLY, loss: 0.05 };
    const times = Array.from({ length: 300 }, (_, seed) =>
      Math.round(
        emulate(graph, path, [serverOf('https://a.test')], uniform(graph, 'h2'), { seed: seed + 1 }).pltMs,
      ),
    );
    // A SYN or its answer is lost in a tenth of loads: 250 and then 300; a second and then 300 only where the backup's is lost too.
    const many = (time: number) => times.filter((each) => each === time).length;
    expect(many(550)).toBeGreaterThan(15);
    expect(many(1_300)).toBeLessThan(many(550) / 5);
  });

  it('are up to six where HTTP/2 is not known yet; the first that is ready serves', () => {
    // 125 bytes a millisecond down. One: SYN/ACK 60 bytes, TLS 3700, response 1070, and 300.
    const path = { downBps: 1e6, queueBytes: 1e6 };
    expect(load('h2', [SMALL], { path }).pltMs).toBeCloseTo(300 + 4_830 / 125, 1);
    // Six: their six TLS flights leave by 150.48 + 6 · 29.6 = 328.08; the responses, asked for at 230.08, come behind.
    const six = load('h2', new Array<FetchSketch>(6).fill(SMALL), { path });
    expect(six.entries[0]!.endMs).toBeCloseTo(328.08 + 8.56 + 50, 1);
    expect(six.pltMs).toBeCloseTo(328.08 + 6 * 8.56 + 50, 1);
    expect(six.origins[0]!.connections).toBe(1);
    // A browser that has been there before opens one: its TLS flight is 1450 bytes.
    const server = { session: { tcp: 'resumed' as const } };
    const known = load('h2', new Array<FetchSketch>(6).fill(SMALL), { path, server });
    expect(known.entries[0]!.endMs).toBeCloseTo(300 + (60 + 1_450 + 1_070) / 125, 1);
  });
});

describe('flow control', () => {
  it('lets 6 MiB be under way over TCP, and of each stream over QUIC', () => {
    // Flights of 10, 20, … 2560 packets, 5110 in all, arrive by 300 + 8 · 100; then 6 MiB are 4399.6 packets a round trip.
    const packets = 5_110 + 3 * 4_399;
    const time = (bytes: number) => load('h2', [{ bytes }]).pltMs;
    expect(time(packets * 1_430)).toBeCloseTo(1_100 + 3 * 100, 0);
    expect(time((packets + 1) * 1_430)).toBeCloseTo(1_100 + 4 * 100, 0);
    // Without it the last would be in the second flight after 5110: 5120, then 10,240.
    expect(packets).toBeLessThan(5_110 + 5_120 + 10_240);
  });

  it('lets several streams of a QUIC connection have 15 MiB under way', () => {
    const quic: ServerProfile['quic'] = { initialWindow: 20_000, congestionControl: 'cubic' };
    const time = (streams: number, packets: number) =>
      load('h3', new Array<FetchSketch>(streams).fill({ bytes: packets * 1_300 }), { server: { quic } })
        .pltMs;
    // 4839 packets of a stream, paced at 1.25 · 20,000 a round trip, 250 a millisecond, after two milliseconds' worth at
    // once; more wait for credit.
    expect(time(1, 4_839)).toBeCloseTo(200 + (4_839 - 500) / 250, 1);
    expect(time(1, 4_840)).toBeGreaterThan(300);
    // 12,098 packets of the connection.
    expect(time(3, 4_032)).toBeCloseTo(200 + (3 * 4_032 - 500) / 250, 1);
    expect(time(3, 4_033)).toBeGreaterThan(300);
  });
});

describe('uploads', () => {
  const upload = (protocol: Protocol, packets: number, path: Partial<NetworkPath> = {}) => {
    const requestBytes = packets * (protocol === 'h3' ? 1_300 : 1_430);
    return load(protocol, [{ ...SMALL, requestBytes }], { path }).pltMs;
  };

  it('take the round trips of slow start from 10 packets over TCP, from 32 over QUIC', () => {
    // 200 for the handshake; flights of 10, 20 and 40 at 200, 300 and 400; the response at 500.
    expect(upload('h1', 10)).toBeCloseTo(300, 1);
    expect(upload('h1', 11)).toBeCloseTo(400, 1);
    expect(upload('h1', 70)).toBeCloseTo(500, 1);
    expect(upload('h1', 71)).toBeCloseTo(600, 1);
    // 100; 32 at 100 and 64 at 200; the response at 300.
    expect(upload('h3', 32)).toBeCloseTo(200, 1);
    expect(upload('h3', 96)).toBeCloseTo(300, 1);
    expect(upload('h3', 97)).toBeCloseTo(400, 1);
  });

  it('take their bytes over the rate of a slow uplink', () => {
    // 125 bytes a millisecond: (60 SYN + 1850 ClientHello + 40 · 1500) / 125 = 495.28, and three round trips.
    expect(upload('h1', 40, { upBps: 1e6 })).toBeCloseTo(300 + 495.28, 1);
  });

  it('let requests on other connections in between', () => {
    const page = [
      { ...SMALL, requestBytes: 200 * 1_430 },
      { ...SMALL, origin: 1, delayMs: 300 },
    ];
    const origins = ['https://a.test', 'https://b.test'];
    const run = load('h1', page, { path: { upBps: 10e6 }, origins });
    // 1250 bytes a millisecond: 200 packets take 240 and their round trips; the other, with three round trips, hardly more.
    expect(run.entries[0]!.endMs).toBeGreaterThan(300 + 240);
    expect(run.entries[1]!.endMs).toBeLessThan(600 + 100);
  });

  it('survive losses', () => {
    const times = Array.from({ length: 20 }, (_, seed) => {
      const graph = pageOf([{ ...SMALL, requestBytes: 300_000 }]);
      const path = { ...ROUND_TRIPS_ONLY, loss: 0.05 };
      return emulate(graph, path, [serverOf('https://a.test')], uniform(graph, 'h2'), { seed }).pltMs;
    });
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    // 210 packets without loss: 10 + 20 + 40 + 80 + 60, at 700.
    expect(Math.min(...times)).toBeGreaterThanOrEqual(700);
    expect(mean).toBeGreaterThan(1_000);
    expect(mean).toBeLessThan(6_000);
  });
});
