import {
  learnForSite,
  learnNetwork,
  type NetworkCluster,
  type NetworkPath,
  poolClusters,
  poolForSite,
  type Recording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it, vi } from 'vitest';
import { networkPosterior } from '../../src/estimate/network-posterior.ts';
import { mayBeSameNetwork } from '../../src/estimate/pool-clusters.ts';
import { RecordingReplay } from '../../src/estimate/replay.ts';
import { LOSS_PRIOR, QUEUE_MS_PRIOR } from '../../src/network/priors.ts';
import { pathOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00.000Z');
const LINK = pathOf({ rttMs: 30, downBps: 60e6, upBps: 10e6, queueBytes: 800_000 });
const OPEN = { kind: 'open' } as const;
const POLICED = { kind: 'policed', bps: 2e6 } as const;

function loadOf(seed: number, protocol: 'h2' | 'h3', udp: NetworkPath['udp'] = OPEN): Recording {
  const graph = randomPage(seed);
  const all = Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
  return recordLoad(graph, { ...LINK, udp }, randomServers(graph, seed), all, seed);
}

function learnFrom(...recordings: Recording[]): NetworkCluster {
  return recordings.reduce<NetworkCluster | null>(
    (before, recording) => learnNetwork(before, recording, NOW_MS),
    null,
  )!;
}

const udpFor = (recording: Recording, cluster: NetworkCluster | null) =>
  networkPosterior(recording, { cluster }).udp;

describe('what loads of several sites showed of one network', () => {
  /** A site's first visit over HTTP/2, and later ones over HTTP/3 that is held to a low rate. */
  const policed = (seed: number, later: number) =>
    learnFrom(loadOf(seed, 'h2'), ...Array.from({ length: later }, () => loadOf(seed, 'h3', POLICED)));
  const throttling = policed(9, 12);
  const other = policed(10, 1);
  const plain = learnFrom(loadOf(11, 'h2'));

  it('is as one site showed it for that site alone', () => {
    expect(throttling.udp.policed).toBeGreaterThan(0.9);
    expect(poolForSite(throttling, { sites: [plain] })!.udp.policed).toBeGreaterThan(0.9);
    const page = loadOf(12, 'h2');
    const alone = udpFor(page, null);
    const udp = udpFor(page, poolForSite(null, { sites: [throttling] }));
    expect(udp.policed).toBeCloseTo(alone.policed, 3);
    // HTTP/3 has answered.
    expect(udp.blocked).toBeLessThan(alone.blocked);
    expect(poolClusters({ sites: [throttling, plain] })!.udp.policed).toBeLessThan(0.02);
    expect(poolForSite(plain, { sites: [throttling] })!.udp.policed).toBeLessThan(0.02);
  });

  it('is that UDP is policed where two of them showed it, or a check', () => {
    expect(poolClusters({ sites: [throttling, other, plain] })!.udp.policed).toBeGreaterThan(0.9);
    expect(poolForSite(plain, { sites: [throttling, other] })!.udp.policed).toBeGreaterThan(0.85);
    const checked = { ...plain, udp: { open: 0, policed: 1, blocked: 0 } };
    expect(poolForSite(plain, { sites: [], check: checked })!.udp.policed).toBeGreaterThan(0.85);
    const page = loadOf(12, 'h2');
    expect(udpFor(page, poolForSite(null, { sites: [throttling, other] })).policed).toBeGreaterThan(0.8);
  });

  it('is that UDP is open where one of them showed it', () => {
    const open = learnFrom(loadOf(10, 'h3'));
    expect(open.udp.open).toBeGreaterThan(0.99);
    expect(poolClusters({ sites: [open] })!.udp.open).toBeGreaterThan(0.95);
    // Sites without HTTP/3 show nothing of it, however many they are.
    expect(plain.udp.open).toBeLessThan(0.95);
    expect(poolClusters({ sites: [plain, open, plain] })!.udp.open).toBeGreaterThan(0.95);
    expect(poolForSite(null, { sites: [plain, open, plain] })!.udp.open).toBeGreaterThan(0.95);
    expect(poolForSite(plain, { sites: [open, throttling] })!.udp.open).toBeGreaterThan(0.93);
  });

  it('has the rates of most, however sure a slow one is', () => {
    const slow = { ...plain, downBps: { mean: Math.log(1e6), spread: 0.001 }, loads: 100 };
    const fast = [11, 12, 13].map((seed) => learnFrom(loadOf(seed, 'h2'), loadOf(seed, 'h2')));
    const honest = poolClusters({ sites: fast })!;
    expect(Math.exp(honest.downBps.mean) / LINK.downBps).toBeGreaterThan(0.6);
    expect(honest.loads).toBe(6);
    const { downBps } = poolClusters({ sites: [...fast, slow] })!;
    // Uncertain: what all showed is within two standard deviations.
    expect((honest.downBps.mean - downBps.mean) / downBps.spread).toBeLessThan(2);
    expect((downBps.mean - slow.downBps.mean) / downBps.spread).toBeLessThan(2);
    expect(mayBeSameNetwork(slow, honest)).toBe(false);
    expect(mayBeSameNetwork(fast[0]!, honest)).toBe(true);
  });

  it('has the shortest round trip that was seen', () => {
    const near = { ...plain, rttMs: { mean: Math.log(20), spread: 0.05 } };
    const assumed = { ...plain, rttMs: { mean: Math.log(15), spread: 1 } };
    expect(poolClusters({ sites: [plain, near, assumed] })!.rttMs).toBe(near.rttMs);
  });

  it('weighs less the older it is', () => {
    const old = { ...plain, updatedAtMs: NOW_MS - 72 * 3_600_000, downBps: { mean: 12, spread: 0.3 } };
    const fresh = { ...plain, downBps: { mean: 16, spread: 0.3 } };
    expect(poolClusters({ sites: [old, fresh] })!.downBps.mean).toBeCloseTo((12 + 8 * 16) / 9, 6);
  });

  it('shows a policer by one load over HTTP/3, where others showed a faster link', () => {
    const { cluster, isUnlikeOthers } = learnForSite(
      null,
      { sites: [plain, throttling] },
      loadOf(13, 'h3', POLICED),
    );
    expect(isUnlikeOthers).toBe(false);
    expect(cluster.loads).toBe(1);
    expect(cluster.udp.policed).toBeGreaterThan(0.9);
    expect(poolClusters({ sites: [plain, throttling, cluster] })!.udp.policed).toBeGreaterThan(0.9);
  });

  it('shows a policer where another site’s load came over HTTP/3 alone too, which says little of the link', () => {
    const first = learnFrom(loadOf(13, 'h3', POLICED));
    expect(first.showsLink).toBe(false);
    const shares = [4, 5, 6, 7, 8].map((seed) => {
      const { cluster, isUnlikeOthers } = learnForSite(null, { sites: [first] }, loadOf(seed, 'h3', POLICED));
      expect(isUnlikeOthers).toBe(false);
      return cluster.udp.policed;
    });
    expect(Math.min(...shares)).toBeGreaterThan(0.85);
  });

  it('knows the link by responses over TCP, or where UDP is open', () => {
    expect(plain.showsLink).toBe(true);
    expect(learnFrom(loadOf(10, 'h3')).showsLink).toBe(true);
    const overH3 = learnFrom(loadOf(13, 'h3', POLICED));
    expect(learnFrom(loadOf(13, 'h3', POLICED), loadOf(13, 'h2')).showsLink).toBe(true);
    expect(poolClusters({ sites: [overH3, overH3] })!.showsLink).toBe(false);
    expect(poolClusters({ sites: [overH3, plain] })!.showsLink).toBe(true);
    // Stored by an earlier version.
    const { showsLink: _, ...old } = overH3;
    expect(poolClusters({ sites: [old, overH3] })!.showsLink).toBe(true);
  });

  it('does not make a site’s open UDP look policed', () => {
    const { cluster } = learnForSite(null, { sites: [plain, throttling] }, loadOf(13, 'h3'));
    expect(cluster.udp.policed).toBeLessThan(0.02);
    const light = learnForSite(null, { sites: [plain, throttling] }, loadOf(13, 'h2')).cluster;
    expect(light.udp.policed).toBeLessThan(0.02);
  });

  it('fits a load of another network twice: to what others showed, and alone', () => {
    const run = vi.spyOn(RecordingReplay.prototype, 'run');
    const replaysOf = (learn: () => unknown) => {
      run.mockClear();
      learn();
      return run.mock.calls.length;
    };
    const slow = { ...plain, downBps: { mean: Math.log(1e6), spread: 0.01 } };
    const fast = loadOf(13, 'h3');
    let learned: ReturnType<typeof learnForSite> | undefined;
    const forSite = replaysOf(() => {
      learned = learnForSite(null, { sites: [slow] }, fast);
    });
    const alone = replaysOf(() => learnNetwork(null, fast));
    run.mockRestore();
    expect(learned).toEqual({ cluster: learnNetwork(null, fast), isUnlikeOthers: true });
    expect(forSite).toBeLessThan(2.5 * alone);
  });

  it('learns roughly from a load without HTTP/3: the link’s rate, and nothing of queue and loss', () => {
    const run = vi.spyOn(RecordingReplay.prototype, 'run');
    const learnCounted = (protocol: 'h2' | 'h3') => {
      run.mockClear();
      const recording = loadOf(13, protocol);
      // As in light recordings.
      const requests = recording.requests.map((request) => ({ ...request, offersH3: null }));
      const { cluster } = learnForSite(null, { sites: [] }, { ...recording, requests });
      return { cluster, replays: run.mock.calls.length };
    };
    const [rough, whole] = [learnCounted('h2'), learnCounted('h3')];
    run.mockRestore();
    expect(rough.replays).toBeLessThan(whole.replays / 2);
    expect(Math.exp(rough.cluster.downBps.mean) / LINK.downBps).toBeGreaterThan(0.6);
    expect(Math.exp(rough.cluster.downBps.mean) / LINK.downBps).toBeLessThan(1.7);
    expect(rough.cluster.queueMs.spread).toBeCloseTo(QUEUE_MS_PRIOR.moments.spread, 6);
    expect(rough.cluster.loss.mean).toBeCloseTo(LOSS_PRIOR.moments.mean, 6);
    expect(rough.cluster.loss.spread).toBeCloseTo(LOSS_PRIOR.moments.spread, 6);
  });

  it('shows that a load is of another network', () => {
    const slow = { ...plain, downBps: { mean: Math.log(1e6), spread: 0.01 } };
    for (const protocol of ['h2', 'h3'] as const) {
      const { cluster, isUnlikeOthers } = learnForSite(null, { sites: [slow] }, loadOf(13, protocol));
      expect(isUnlikeOthers).toBe(true);
      expect(cluster.loads).toBe(1);
    }
  });

  it('is nothing without any', () => {
    expect(poolClusters({ sites: [] })).toBeNull();
    expect(poolForSite(null, { sites: [], check: null })).toBeNull();
    expect(poolForSite(plain, { sites: [] })).toBe(plain);
  });
});
