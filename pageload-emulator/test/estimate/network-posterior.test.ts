import { median } from '@hopwise/contract';
import { type NetworkPath, predict, type Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { estimateNetwork } from '../../src/estimate/estimate-network.ts';
import { learnNetwork } from '../../src/estimate/learn-network.ts';
import { type NetworkPosterior, networkPosterior } from '../../src/estimate/network-posterior.ts';
import type { NetworkKnowledge } from '../../src/estimate/posterior-input.ts';
import { drawNetworks } from '../../src/scenarios/draw-networks.ts';
import { createRandom, normal } from '../../src/util/random.ts';
import { type FetchSketch, pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';
import { mixedAssignment, randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

function posteriorOf(recording: Recording, knowledge?: NetworkKnowledge): NetworkPosterior {
  return networkPosterior(recording, knowledge);
}

/** A page that fills its link, under HTTP/2 with every second origin on HTTP/3. */
function filled(path: NetworkPath, seed = 3): Recording {
  const graph = randomPage(seed);
  return recordLoad(graph, path, randomServers(graph, seed), mixedAssignment(graph), seed);
}

describe('the posterior of a synthetic load', () => {
  it.each([
    ['slow and far', 120, 3e6],
    ['middling', 50, 12e6],
    ['fast and near', 15, 40e6],
  ])('finds round trip and rate: %s', (_, rttMs, downBps) => {
    const { path, sources } = posteriorOf(filled(pathOf({ rttMs, downBps, queueBytes: downBps / 50 })));
    expect(path.rttMs / rttMs).toBeGreaterThan(0.95);
    expect(path.rttMs / rttMs).toBeLessThan(1.1);
    expect(path.downBps / downBps).toBeGreaterThan(0.65);
    expect(path.downBps / downBps).toBeLessThan(1.5);
    expect(sources).toMatchObject({ rttMs: 'estimated', downBps: 'estimated' });
  });

  it('finds the upstream rate in the first handshake', () => {
    for (const upBps of [0.5e6, 1e6, 2e6]) {
      const { intervals } = posteriorOf(filled(pathOf({ rttMs: 60, downBps: 10e6, upBps })));
      expect(intervals.upBps.low).toBeLessThan(upBps);
      expect(intervals.upBps.high).toBeGreaterThan(upBps);
      expect(intervals.upBps.high / intervals.upBps.low).toBeLessThan(5);
    }
  });

  it('judges the servers by the rate of the link on which the page was recorded, unless its arrivals show one', () => {
    const recording = filled(pathOf({ rttMs: 50, downBps: 200e6, queueBytes: 4_000_000 }));
    const estimate = estimateNetwork(recording);
    const given = (downBps: number) => posteriorOf(recording, { network: { downBps } }).servers;
    expect(estimate.isFilled).toBe(false);
    expect(given(200e6)).toEqual(estimate.serversOn(200e6));
    expect(given(200e6)).not.toEqual(estimate.servers);
    expect(posteriorOf(recording).servers).not.toEqual(estimate.servers);
    // The page arrived much faster than this.
    expect(given(1e6)).toEqual(estimate.servers);
    const slow = filled(pathOf({ rttMs: 50, downBps: 12e6, queueBytes: 240_000 }));
    expect(estimateNetwork(slow).isFilled).toBe(true);
    expect(posteriorOf(slow).servers).toEqual(estimateNetwork(slow).servers);
  });

  it('distinguishes lossy paths from clean ones', () => {
    const lossesAt = (loss: number) =>
      [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
        const recording = filled(pathOf({ rttMs: 50, downBps: 20e6, loss, queueBytes: 375_000 }), seed);
        return posteriorOf(recording).intervals.loss;
      });
    const clean = lossesAt(0);
    const lossy = lossesAt(0.03);
    expect(median(clean.map((loss) => loss.median))).toBeLessThan(5e-4);
    expect(median(lossy.map((loss) => loss.median))).toBeGreaterThan(2e-3);
    expect(lossy.filter(({ high }) => high > 0.008).length).toBeGreaterThanOrEqual(6);
    expect(clean.filter(({ high }) => high > 0.008).length).toBeLessThanOrEqual(1);
  });

  it('states 80% intervals that contain the truth about as often, over many networks', () => {
    const held = { rttMs: 0, downBps: 0, upBps: 0, queueBytes: 0, loss: 0 };
    const cases = 60;
    let policed = 0;
    for (let seed = 1; seed <= cases; seed++) {
      const random = createRandom(seed * 7919);
      const factor = (spread: number) => Math.exp(spread * normal(random));
      const downBps = 15e6 * factor(1);
      const path = pathOf({
        rttMs: 50 * factor(0.8),
        downBps,
        upBps: 0.3 * downBps * factor(0.6),
        loss: random() < 0.6 ? 0 : 0.002 * factor(1.2),
        queueBytes: Math.max(15_000, (downBps / 8000) * 150 * factor(0.5)),
      });
      const { intervals, udp } = posteriorOf(filled(path, seed));
      policed += udp.policed;
      for (const figure of ['rttMs', 'downBps', 'upBps', 'queueBytes'] as const) {
        const { low, high } = intervals[figure];
        if (low <= path[figure] && path[figure] <= high) held[figure]++;
      }
      // Loss below three in ten thousand has no effect.
      if (
        Math.max(path.loss, 3e-4) <= intervals.loss.high &&
        (path.loss < 3e-4 || path.loss >= intervals.loss.low)
      )
        held.loss++;
    }
    for (const [figure, count] of Object.entries(held)) {
      // Where 60 hold it with probability 0.8 each, fewer do once in twenty times: 0.8 - 1.645 · √(0.8 · 0.2 / 60).
      expect(count / cases, figure).toBeGreaterThan(0.71);
    }
    expect(held.downBps / cases).toBeLessThan(0.97);
    // UDP was open in all of them.
    expect(policed / cases).toBeLessThan(0.06);
  });
});

describe("UDP's treatment", () => {
  /** A document over HTTP/2, then files over HTTP/3. */
  function upgraded(files: number, bytes: number, path: NetworkPath): Recording {
    const origins = ['https://a.test', 'https://b.test'];
    const fetches: FetchSketch[] = [
      { bytes: 30_000 },
      ...Array.from({ length: 8 }, () => ({ bytes: 60_000, after: [0] })),
      ...Array.from({ length: files }, (_, index) => ({ origin: 1, bytes, after: [1 + (index % 8)] })),
    ];
    const graph = pageOf(fetches, origins);
    const servers = origins.map((origin) => serverOf(origin));
    return recordLoad(graph, path, servers, { 'https://a.test': 'h2', 'https://b.test': 'h3' });
  }
  const link = (udp: NetworkPath['udp']) => pathOf({ rttMs: 30, downBps: 40e6, queueBytes: 750_000, udp });

  it('policed, with its rate, shows in responses over HTTP/3 beside faster ones over HTTP/2', () => {
    const { udp, path, sources } = posteriorOf(upgraded(20, 40_000, link({ kind: 'policed', bps: 3e6 })));
    expect(udp.policed).toBeGreaterThan(0.95);
    expect(path.udp).toMatchObject({ kind: 'policed' });
    const { bps } = path.udp as { bps: number };
    expect(bps / 3e6).toBeGreaterThan(0.6);
    expect(bps / 3e6).toBeLessThan(1.6);
    expect(path.downBps / 40e6).toBeGreaterThan(0.4);
    expect(sources.udp).toBe('estimated');
  });

  it('policed shows neither loss nor a slower link in responses over HTTP/3 alone', () => {
    const page = upgraded(20, 40_000, link({ kind: 'policed', bps: 2e6 }));
    const overH3 = page.requests.map((request) => ({ ...request, protocol: 'h3' as const }));
    const { path, intervals } = posteriorOf(
      { ...page, requests: overH3 },
      { network: { udp: { kind: 'policed', bps: 2e6 } } },
    );
    const prior = posteriorOf({ ...page, requests: page.requests.slice(0, 1) });
    expect(path.loss).toBeCloseTo(prior.path.loss, 4);
    expect(intervals.downBps.high).toBeGreaterThan(20e6);
  });

  it('lossy shows no loss of the link in responses over HTTP/3 alone', () => {
    const udp = { kind: 'lossy', loss: 0.04 } as const;
    const path = pathOf({ rttMs: 40, downBps: 50e6, udp });
    for (let seed = 1; seed <= 5; seed++) {
      const graph = randomPage(seed);
      const overH3 = recordLoad(graph, path, randomServers(graph, seed), uniform(graph, 'h3'), seed);
      expect(posteriorOf(overH3, { network: { udp } }).path.loss).toBeLessThan(0.001);
    }
  });

  it('policed is never certain from responses over HTTP/3 alone, unless the link or an earlier load is known', () => {
    const policed = pathOf({ rttMs: 40, downBps: 20e6, udp: { kind: 'policed', bps: 2e6 } });
    const page = upgraded(20, 40_000, policed);
    const graph = randomPage(2);
    const overH3 = recordLoad(graph, policed, randomServers(graph, 2), uniform(graph, 'h3'), 2);
    const alone = posteriorOf(overH3);
    expect(alone.udp.policed).toBeGreaterThan(0.8);
    expect(alone.udp.policed).toBeLessThanOrEqual(0.9);
    expect(posteriorOf(overH3, { measured: { downBps: 20e6 } }).udp.policed).toBeGreaterThan(0.95);
    const cluster = learnNetwork(null, page);
    expect(posteriorOf(overH3, { cluster }).udp.policed).toBeGreaterThan(0.9);
  });

  it('open shows in equally fast responses', () => {
    const { udp, path } = posteriorOf(upgraded(20, 40_000, link({ kind: 'open' })));
    expect(udp.policed).toBeLessThan(0.01);
    expect(udp.blocked).toBe(0);
    expect(path.udp).toEqual({ kind: 'open' });
  });

  it('policed is found among slow links, though few rates of a policer explain a load over HTTP/3 alone', () => {
    const policed = pathOf({
      rttMs: 30,
      downBps: 60e6,
      upBps: 10e6,
      queueBytes: 800_000,
      udp: { kind: 'policed', bps: 2e6 },
    });
    const shares = [4, 6, 7, 12, 13, 14].map((seed) => {
      const graph = randomPage(seed);
      const recording = recordLoad(graph, policed, randomServers(graph, seed), uniform(graph, 'h3'), seed);
      return posteriorOf(recording).udp.policed;
    });
    expect(Math.min(...shares)).toBeGreaterThan(0.85);
  });

  it('found unblocked by transfers may still be policed', () => {
    const measured = { udp: { kind: 'unblocked' as const } };
    const policed = posteriorOf(upgraded(20, 40_000, link({ kind: 'policed', bps: 3e6 })), { measured });
    expect(policed.udp.policed).toBeGreaterThan(0.95);
    expect(policed.sources.udp).toBe('estimated');
    const graph = randomPage(5);
    const overTcp = recordLoad(graph, link({ kind: 'open' }), randomServers(graph, 5), uniform(graph, 'h2'));
    const open = posteriorOf(overTcp, { measured });
    expect(open.udp.blocked).toBe(0);
    expect(open.sources.udp).toBe('measured');
  });

  it('stays uncertain when a few small responses show nothing', () => {
    const some = posteriorOf(upgraded(1, 500, link({ kind: 'policed', bps: 3e6 }))).udp;
    expect(some.policed).toBeGreaterThan(0.003);
    expect(some.policed).toBeLessThan(0.05);
  });

  it('keeps the prior without responses over HTTP/3, and reports it as assumed', () => {
    const graph = randomPage(5);
    const recording = recordLoad(
      graph,
      link({ kind: 'open' }),
      randomServers(graph, 5),
      uniform(graph, 'h2'),
    );
    for (const request of recording.requests) request.offersH3 = false;
    const before = posteriorOf(recording);
    expect(before.udp.blocked).toBeCloseTo(0.044, 9);
    expect(before.udp.policed).toBeCloseTo(0.956 * 0.015, 9);
    expect(before.sources.udp).toBe('assumed');
    // Offered again and again, and never used.
    for (const [index, request] of recording.requests.entries()) {
      request.offersH3 = true;
      if (index > 0) {
        request.startMs += 1_000;
        request.endMs += 1_000;
      }
    }
    expect(posteriorOf(recording).udp.blocked).toBeGreaterThan(0.08);
    const pinned = uniform(graph, 'h2');
    expect(posteriorOf(recording, { pinned }).udp.blocked).toBeCloseTo(0.044, 9);
    expect(predict(recording, { knowledge: { pinned } }).network.udpShares.blocked).toBeCloseTo(0.044, 9);
  });
});

describe('knowledge besides the recording', () => {
  const recording = filled(pathOf({ rttMs: 50, downBps: 10e6 }));
  const GIVEN = {
    rttMs: 70,
    downBps: 30e6,
    upBps: 6e6,
    loss: 0,
    lossBurst: 1,
    queueBytes: 200_000,
    udp: { kind: 'open' as const },
  };

  it('that is given is certain', () => {
    const posterior = posteriorOf(recording, { network: GIVEN });
    expect(posterior.path).toEqual(GIVEN);
    expect(new Set(Object.values(posterior.sources))).toEqual(new Set(['given']));
    expect(posterior.intervals.downBps).toEqual({ low: 30e6, median: 30e6, high: 30e6 });
    expect(drawNetworks(posterior, 12)).toHaveLength(1);
    const lossy = drawNetworks(posteriorOf(recording, { network: { ...GIVEN, loss: 0.01 } }), 12);
    expect(lossy).toHaveLength(12);
    expect(new Set(lossy.map(({ path }) => JSON.stringify(path))).size).toBe(1);
    expect(new Set(lossy.map(({ seed }) => seed)).size).toBe(12);
  });

  it('that was measured narrows its figure', () => {
    const alone = posteriorOf(recording).intervals;
    const measured = { rttMs: 52, downBps: 11e6, udp: { kind: 'blocked' } } as const;
    const withoutLoss = posteriorOf(recording, { measured }).intervals;
    const { intervals, sources, path } = posteriorOf(recording, {
      measured: { ...measured, loss: { events: 40, packets: 1000 } },
    });
    expect(sources).toMatchObject({
      rttMs: 'measured',
      downBps: 'measured',
      loss: 'measured',
      udp: 'measured',
    });
    expect(path.rttMs).toBe(52);
    expect(path.udp).toEqual({ kind: 'blocked' });
    const width = ({ low, high }: { low: number; high: number }) => high / low;
    expect(width(intervals.downBps)).toBeLessThan(width(alone.downBps));
    expect(intervals.loss.median).toBeGreaterThan(withoutLoss.loss.median);
  });

  it('of counted losses weighs more the more packets were counted', () => {
    const median = (loss: { events: number; packets: number }) =>
      posteriorOf(recording, { measured: { loss } }).intervals.loss.median;
    const alone = posteriorOf(recording).intervals.loss.median;
    expect(median({ events: 0, packets: 0 })).toBe(alone);
    expect(median({ events: 0, packets: 1_000 })).toBeLessThan(alone);
    expect(median({ events: 0, packets: 10_000 })).toBeLessThan(median({ events: 0, packets: 1_000 }));
    // 5% of packets, of few and of many.
    expect(median({ events: 40, packets: 800 })).toBeGreaterThan(median({ events: 1, packets: 20 }));
  });

  it('of the gaps in the numbers of QUIC’s packets bounds random loss from above alone', () => {
    const high = (quicPackets: { sent: number; lossEvents: number }) =>
      posteriorOf({ ...recording, quicPackets }).intervals.loss.high;
    const alone = posteriorOf(recording).intervals.loss.high;
    expect(high({ sent: 3_000, lossEvents: 0 })).toBeLessThan(0.5 * alone);
    expect(high({ sent: 3_000, lossEvents: 3 })).toBeGreaterThan(high({ sent: 3_000, lossEvents: 0 }));
    // Queues and policers make gaps as well.
    expect(high({ sent: 3_000, lossEvents: 900 })).toBeCloseTo(alone, 3);
    expect(high({ sent: 0, lossEvents: 0 })).toBe(alone);
  });

  it('of counted losses shows the length of their bursts', () => {
    const of = (lost: number) =>
      posteriorOf(recording, { measured: { loss: { events: 8, packets: 2_000, lost } } });
    expect(of(8).intervals.lossBurst).toEqual({ low: 1, median: 1, high: 1 });
    // 32 packets in 8 events: 4 each.
    const { intervals, path, sources } = of(32);
    expect(path.lossBurst).toBeCloseTo(4, 9);
    expect(intervals.lossBurst.low).toBeGreaterThan(2);
    expect(intervals.lossBurst.high).toBeLessThan(8);
    expect(sources.lossBurst).toBe('measured');
    expect(posteriorOf(recording).sources.lossBurst).toBe('assumed');
  });

  it('of a reached rate is a lower bound of the link’s', () => {
    const { low } = posteriorOf(recording, { measured: { reachedBps: 30e6 } }).intervals.downBps;
    expect(posteriorOf(recording).intervals.downBps.high).toBeLessThan(27e6);
    expect(low).toBeGreaterThan(27e6);
  });

  it('of UDP is certain when transfers over it were as fast as over TCP, or policed', () => {
    const open = posteriorOf(recording, { measured: { udp: { kind: 'open' } } });
    expect(open.udp).toEqual({ open: 1, policed: 0, blocked: 0 });
    const policed = posteriorOf(recording, { measured: { udp: { kind: 'policed', bps: 3e6 } } });
    expect(policed.udp).toEqual({ open: 0, policed: 1, blocked: 0 });
    expect(policed.path.udp).toEqual({ kind: 'policed', bps: 3e6 });
    expect([open.sources.udp, policed.sources.udp]).toEqual(['measured', 'measured']);
  });

  it('of headers shows whether a server announces HTTP/3', () => {
    const silent = structuredClone(recording);
    // Over TCP a server without an offer does not speak HTTP/3 yet.
    for (const request of silent.requests) Object.assign(request, { offersH3: false, protocol: 'h2' });
    expect(estimateNetwork(silent).servers[0]).not.toHaveProperty('announcesH3');
    for (const request of silent.requests) request.protocol = 'h3';
    expect(estimateNetwork(silent).servers[0]).toMatchObject({ announcesH3: false });
    silent.requests[0]!.offersH3 = true;
    expect(estimateNetwork(silent).servers[0]).not.toHaveProperty('announcesH3');
    for (const request of silent.requests) request.offersH3 = null;
    expect(estimateNetwork(silent).servers[0]).not.toHaveProperty('announcesH3');
  });

  it('of a server replaces estimated fields', () => {
    const { servers } = posteriorOf(recording, { servers: [{ origin: 'https://o0.test', thinkMs: 77 }] });
    expect(servers[0]).toMatchObject({ origin: 'https://o0.test', thinkMs: 77 });
  });
});

describe('networks drawn from a posterior', () => {
  const posterior = posteriorOf(filled(pathOf({ rttMs: 50, downBps: 10e6, loss: 0.005 })));

  it('begin with the likeliest network, and a longer list with the shorter one', () => {
    const many = drawNetworks(posterior, 24);
    expect(many).toHaveLength(24);
    expect(many[0]).toEqual({ path: posterior.path, servers: posterior.servers, seed: 1 });
    expect(drawNetworks(posterior, 7)).toEqual(many.slice(0, 7));
    expect(new Set(many.map(({ seed }) => seed)).size).toBe(24);
  });

  it('are spread as the densities are', () => {
    const drawn = drawNetworks(posterior, 400).slice(1);
    for (const figure of ['rttMs', 'downBps', 'upBps'] as const) {
      const { low, high } = posterior.densities[figure].interval;
      const within = drawn.filter(({ path }) => path[figure] >= low && path[figure] <= high).length;
      expect(within / drawn.length, figure).toBeCloseTo(0.8, 1);
    }
    for (const { path } of drawn) {
      expect(path.loss).toBeGreaterThan(0);
      expect(path.loss).toBeLessThanOrEqual(0.2);
      expect(path.queueBytes).toBeGreaterThanOrEqual(15_000);
      expect(path.lossBurst).toBeGreaterThanOrEqual(1);
    }
    // Losses are single with the prior's probability of 0.7.
    const single = drawn.filter(({ path }) => path.lossBurst === 1).length;
    expect(single / drawn.length).toBeCloseTo(0.7, 1);
  });

  it('police UDP in the share that is its probability', () => {
    const doubtful: NetworkPosterior = { ...posterior, udp: { open: 0.7, policed: 0.3, blocked: 0 } };
    const drawn = drawNetworks(doubtful, 201).slice(1);
    const policed = drawn.filter(({ path }) => path.udp.kind === 'policed').length;
    expect(policed / drawn.length).toBeCloseTo(0.3, 1);
  });
});
