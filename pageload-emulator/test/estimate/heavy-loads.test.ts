import { median } from '@hopwise/contract';
import { learnForSite, type Protocol, type Recording } from '@hopwise/pageload-emulator';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { estimateNetwork } from '../../src/estimate/estimate-network.ts';
import { firstPart } from '../../src/estimate/first-part.ts';
import { networkPosterior } from '../../src/estimate/network-posterior.ts';
import { RecordingReplay } from '../../src/estimate/replay.ts';
import { responseBytesOf } from '../../src/recording/sizes.ts';
import { EventQueue } from '../../src/transport/event-queue.ts';
import { generatedPage } from '../support/generated-pages.ts';
import { pageOf, pathOf } from '../support/pages.ts';
import { mixedAssignment, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const LINK = pathOf({ rttMs: 30, downBps: 40e6, upBps: 8e6, queueBytes: 750_000 });
const POLICED = { ...LINK, udp: { kind: 'policed', bps: 3e6 } } as const;
/** Of each learning: the fit's, more of them where UDP is policed, and those of whole loads beside it. */
const MAX_EVENTS = 350_000;

/** A page whose files are requested in groups, as scripts run. */
function heavyPage(requests: number) {
  const origins = Array.from({ length: 8 }, (_, index) => `https://o${index}.test`);
  const fetches = Array.from({ length: requests }, (_, id) => ({
    origin: id % origins.length,
    bytes: 5_000 + ((id * 7_919) % 80_000),
    after: id === 0 ? [] : [Math.floor(id / 60)],
    delayMs: id % 50,
  }));
  return pageOf(fetches, origins);
}

function loadOf(requests: number, protocol: Protocol | 'mixed', path: typeof LINK = LINK): Recording {
  const graph = heavyPage(requests);
  const assignment =
    protocol === 'mixed'
      ? mixedAssignment(graph)
      : Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
  return recordLoad(graph, path, randomServers(graph, 1), assignment);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('heavy loads', () => {
  it.each([
    [400, 'mixed', LINK],
    [400, 'h3', LINK],
    [400, 'mixed', POLICED],
    [1_000, 'mixed', LINK],
    [1_000, 'h3', LINK],
    [1_000, 'mixed', POLICED],
  ] as const)('of %i requests, %s, are learned from at a bounded cost', (requests, protocol, path) => {
    const recording = loadOf(requests, protocol, path);
    const steps = vi.spyOn(EventQueue.prototype, 'step');
    learnForSite(null, { sites: [] }, recording);
    expect(steps.mock.calls.length).toBeGreaterThan(10_000);
    expect(steps.mock.calls.length).toBeLessThan(MAX_EVENTS);
  });

  it.each([
    [400, 'h2'],
    [1_000, 'h2'],
    [400, 'mixed'],
    [1_000, 'mixed'],
  ] as const)('of %i requests, %s, show the rate of their link', (requests, protocol) => {
    const { downBps } = networkPosterior(loadOf(requests, protocol)).path;
    expect(downBps / LINK.downBps).toBeGreaterThan(0.75);
    expect(downBps / LINK.downBps).toBeLessThan(1.35);
  });

  it.each([1e6, 2e6])('of 400 requests show a policer of %d bit/s on a much faster link', (bps) => {
    const path = pathOf({
      rttMs: 30,
      downBps: 200e6,
      upBps: 40e6,
      queueBytes: 3_750_000,
      udp: { kind: 'policed', bps },
    });
    const { udp, densities } = networkPosterior(loadOf(400, 'mixed', path));
    expect(udp.policed).toBeGreaterThan(0.99);
    expect(densities.policedBps.quantile(0.5) / bps).toBeGreaterThan(0.75);
    expect(densities.policedBps.quantile(0.5) / bps).toBeLessThan(1.35);
  });

  it('show no policer in a response that its server holds open for a minute', () => {
    const { requests, ...recording } = loadOf(100, 'h3');
    const events = requests.map((each) =>
      each.id === 99 ? { ...each, transferBytes: 500, bodyBytes: 200, endMs: each.endMs + 60_000 } : each,
    );
    const { udp, path } = networkPosterior({ ...recording, requests: events });
    expect(udp.open).toBeGreaterThan(0.9);
    expect(path.downBps / LINK.downBps).toBeGreaterThan(0.6);
  });

  it.each([
    [0, 1],
    [1, 1],
    [1, 3],
  ])(
    'mostly over HTTP/3 and policed show that their link is fast where one origin, %i, is on HTTP/2, page %i',
    (overH2, seed) => {
      const { graph, servers } = generatedPage(seed, 8, 150);
      const assignment = Object.fromEntries(
        graph.origins.map((origin, index) => [origin, index === overH2 ? ('h2' as const) : ('h3' as const)]),
      );
      const policed = { ...LINK, udp: { kind: 'policed', bps: 2e6 } } as const;
      const { low, high } = networkPosterior(recordLoad(graph, policed, servers, assignment)).intervals
        .downBps;
      expect(low).toBeGreaterThan(10e6);
      expect(low).toBeLessThan(LINK.downBps);
      expect(high).toBeGreaterThan(LINK.downBps);
    },
  );

  it('policed have a link no slower than what TCP held, however late its other responses were', () => {
    const origins = ['https://o0.test', 'https://o1.test', 'https://o2.test'];
    const page = pageOf(
      [
        { bytes: 30_000 },
        ...Array.from({ length: 20 }, () => ({ origin: 1, bytes: 150_000, after: [0] })),
        ...Array.from({ length: 30 }, (_, index) => ({
          bytes: 100_000,
          after: [0],
          delayMs: 1_000 + 300 * index,
        })),
        ...Array.from({ length: 40 }, () => ({ origin: 2, bytes: 60_000, after: [0] })),
      ],
      origins,
    );
    const policed = { ...LINK, udp: { kind: 'policed', bps: 2e6 } } as const;
    const assignment = { [origins[0]!]: 'h2', [origins[1]!]: 'h2', [origins[2]!]: 'h3' } as const;
    const recording = recordLoad(page, policed, randomServers(page, 1), assignment);
    const requests = recording.requests.map((request) => ({
      ...request,
      endMs: request.endMs + (request.transferBytes === 100_000 ? 60 : 0),
    }));
    expect(networkPosterior({ ...recording, requests }).intervals.downBps.low).toBeGreaterThan(30e6);
  });

  describe('of 150 small files whose servers take random times', () => {
    const origins = Array.from({ length: 40 }, (_, index) => `https://o${index}.test`);
    /** The loss that is read from a load over HTTP/1.1 without any. @param meanMs of the servers' times */
    const readLoss = (meanMs: number) => {
      const fetches = Array.from({ length: 150 }, (_, id) => ({
        origin: id % origins.length,
        bytes: 600 + ((id * 7_919) % 2_500),
        after: id === 0 ? [] : [Math.floor(id / 60)],
        delayMs: (id * 37) % 900,
        // Exponentially distributed: the multiples of the golden ratio divide the distribution evenly.
        thinkMs: -meanMs * Math.log(1 - ((id * 0.618_034) % 1)),
      }));
      const page = pageOf(fetches, origins);
      const link = pathOf({ rttMs: 20, downBps: 60e6, upBps: 20e6, queueBytes: 1_000_000 });
      const overH1 = Object.fromEntries(origins.map((origin) => [origin, 'h1' as const]));
      return networkPosterior(recordLoad(page, link, randomServers(page, 1), overH1)).path.loss;
    };

    it.each([600, 800, 1_000])('of %i ms in the mean show no losses', (meanMs) => {
      expect(readLoss(meanMs)).toBeLessThan(0.005);
    });

    it.fails.each([60, 120, 200, 400])('of %i ms in the mean show no losses', (meanMs) => {
      expect(readLoss(meanMs)).toBeLessThan(0.005);
    });
  });

  it('of 400 requests show losses that come to show in their later part', () => {
    const losses = [1, 2, 3, 4, 5].map((seed) => {
      const { graph, servers } = generatedPage(seed, 60, 400);
      const assignment = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
      const lossy = { ...LINK, rttMs: 60, downBps: 20e6, loss: 0.01 };
      return networkPosterior(recordLoad(graph, lossy, servers, assignment)).path.loss;
    });
    expect(median(losses)).toBeGreaterThan(1e-3);
  });

  it('show no losses in a delay that all responses have in common', () => {
    const link = pathOf({ rttMs: 10, downBps: 100e6, upBps: 20e6, queueBytes: 1_000_000 });
    const { graph, servers } = generatedPage(3, 30, 400);
    const assignment = Object.fromEntries(graph.origins.map((origin) => [origin, 'h1' as const]));
    const recording = recordLoad(graph, link, servers, assignment);
    const requests = recording.requests.map((request) => ({ ...request, endMs: request.endMs + 8 }));
    const late = { ...recording, pltMs: recording.pltMs! + 8, requests };
    expect(networkPosterior(late).path.loss).toBeLessThan(3e-3);
  });

  it('are not replayed twice on a network, nor on slower ones than a policer that is too slow', () => {
    const { graph, servers } = generatedPage(3, 8, 100);
    const assignment = Object.fromEntries(graph.origins.map((origin) => [origin, 'h3' as const]));
    const recording = recordLoad(graph, { ...LINK, downBps: 20e6 }, servers, assignment);
    const runs = vi.spyOn(RecordingReplay.prototype, 'run');
    learnForSite(null, { sites: [] }, recording);
    const replays = runs.mock.calls.map(([path, seed = 1]) => JSON.stringify([path, seed]));
    expect(new Set(replays).size).toBe(replays.length);
    const policers = runs.mock.calls.flatMap(([{ udp }]) => (udp.kind === 'policed' ? [udp.bps] : []));
    expect(policers.length).toBeGreaterThan(2);
    expect(Math.min(...policers)).toBeGreaterThan(10e6);
  });

  it('are not replayed at rates far above one that is too high', () => {
    const recording = loadOf(100, 'h2');
    const runs = vi.spyOn(RecordingReplay.prototype, 'run');
    learnForSite(null, { sites: [] }, recording);
    const highest = Math.max(...runs.mock.calls.map(([{ downBps }]) => downBps));
    expect(highest / LINK.downBps).toBeLessThan(2.5);
  });

  it('that rule a policer out are not emulated as a whole beside', () => {
    const recording = loadOf(240, 'h3');
    const steps = vi.spyOn(EventQueue.prototype, 'step');
    const runs = vi.spyOn(RecordingReplay.prototype, 'run');
    learnForSite(null, { sites: [] }, recording);
    const replayed = runs.mock.results.reduce((sum, { value }) => sum + value.events, 0);
    expect(steps).toHaveBeenCalledTimes(replayed);
  });

  it('are fitted once to each network that is known, and once alone where they are of another', () => {
    const recording = loadOf(100, 'h3');
    const { cluster } = learnForSite(null, { sites: [] }, recording);
    const slow = { ...cluster, downBps: { mean: Math.log(1e6), spread: 0.01 } };
    const slower = { ...cluster, downBps: { mean: Math.log(5e5), spread: 0.01 } };
    const runs = vi.spyOn(RecordingReplay.prototype, 'run');
    expect(learnForSite(slower, { sites: [slow] }, recording).isUnlikeOthers).toBe(true);
    // Each fit has a replay of its own.
    expect(new Set(runs.mock.contexts).size).toBe(3);
  });
});

describe('the first part of a load', () => {
  const recording = loadOf(1_000, 'h2');
  const parts = firstPart(recording.requests);
  const whole = parts.filter(({ isWhole }) => isWhole);
  const untilMs = Math.max(...whole.map(({ request }) => request.endMs));

  it('is all that arrived until it had shown its network', () => {
    expect(whole.length).toBeLessThanOrEqual(600);
    const ended = recording.requests.filter(({ endMs }) => endMs <= untilMs);
    expect(whole.map(({ request }) => request)).toEqual(ended);
    const bytes = parts.reduce((sum, { request }) => sum + responseBytesOf(request), 0);
    expect(bytes).toBeLessThan(21e6);
    expect((8_000 * bytes) / untilMs / LINK.downBps).toBeGreaterThan(0.6);
  });

  it('cuts what had arrived in part, and leaves out what had not begun', () => {
    const cut = parts.filter(({ isWhole }) => !isWhole);
    expect(cut.length).toBeGreaterThan(0);
    for (const { request } of cut) {
      expect(request.endMs).toBe(untilMs);
      expect(request.phases.responseStartMs!).toBeLessThan(untilMs);
      expect(responseBytesOf(request)).toBeLessThanOrEqual(responseBytesOf(recording.requests[request.id]!));
    }
  });

  it('of a small load is all of it', () => {
    const { requests } = loadOf(100, 'h2');
    expect(firstPart(requests)).toEqual(requests.map((request) => ({ request, isWhole: true })));
  });

  it('shows nothing by what it cut', () => {
    const replay = new RecordingReplay(recording, estimateNetwork(recording));
    expect(replay.requests.filter(({ isWhole }) => isWhole)).toHaveLength(whole.length);
  });
});
