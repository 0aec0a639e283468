import { HOUR_MS } from '@hopwise/contract';
import {
  learnNetwork,
  type NetworkCluster,
  type NetworkPath,
  parseCluster,
  type Recording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { updateCluster } from '../../src/estimate/learn-network.ts';
import { type NetworkPosterior, networkPosterior } from '../../src/estimate/network-posterior.ts';
import { LogDensity, logGrid } from '../../src/network/log-density.ts';
import { pageOf, pathOf, serverOf } from '../support/pages.ts';
import { mixedAssignment, randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00.000Z');

function posteriorOf(recording: Recording, cluster: NetworkCluster | null): NetworkPosterior {
  return networkPosterior(recording, { cluster });
}

const DSL = pathOf({ rttMs: 40, downBps: 6e6, upBps: 1e6, queueBytes: 150_000 });
/** A page that shows its link's rate. */
const heavy = (seed: number): Recording => {
  const graph = randomPage(seed);
  return recordLoad(graph, DSL, randomServers(graph, seed), mixedAssignment(graph), seed);
};
/** A page that hardly says anything. */
const light = (): Recording => {
  const graph = pageOf([{ bytes: 2_000 }, { bytes: 3_000, after: [0] }]);
  return recordLoad(graph, DSL, [serverOf('https://a.test')], { 'https://a.test': 'h2' });
};

function clusterOf(loads: number): NetworkCluster {
  let cluster: NetworkCluster | null = null;
  for (let seed = 1; seed <= loads; seed++) {
    cluster = learnNetwork(cluster, heavy(seed), NOW_MS - HOUR_MS);
  }
  return cluster!;
}

const width = ({ intervals: { downBps } }: NetworkPosterior) => downBps.high / downBps.low;

describe('earlier loads on the same network', () => {
  const cluster = clusterOf(3);

  it('add what a page with little evidence does not show', () => {
    const alone = posteriorOf(light(), null);
    const fused = posteriorOf(light(), cluster);
    expect(fused.path.downBps / 6e6).toBeGreaterThan(0.65);
    expect(fused.path.downBps / 6e6).toBeLessThan(1.6);
    expect(width(fused)).toBeLessThan(width(alone) / 2);
    expect(fused.intervals.downBps.low).toBeLessThan(6e6);
    expect(fused.intervals.downBps.high).toBeGreaterThan(6e6);
  });

  it('weigh less the older they are, and finally nothing', () => {
    const alone = posteriorOf(light(), null);
    const widths = [1, 24, 96, 10_000].map((hours) =>
      width(posteriorOf(light(), { ...cluster, updatedAtMs: NOW_MS - hours * HOUR_MS })),
    );
    expect(widths).toEqual([...widths].sort((a, b) => a - b));
    expect(widths.at(-1)).toBeCloseTo(width(alone), 6);
  });

  it('yield to a page that shows another rate', () => {
    const graph = randomPage(4);
    const faster = recordLoad(
      graph,
      { ...DSL, downBps: 40e6, queueBytes: 600_000 },
      randomServers(graph, 4),
      mixedAssignment(graph),
    );
    expect(posteriorOf(faster, cluster).path.downBps).toBeGreaterThan(15e6);
    const other = learnNetwork(cluster, faster, NOW_MS);
    expect(other).toEqual(learnNetwork(null, faster, NOW_MS));
    expect(other.loads).toBe(1);
  });

  it('make a policer of UDP that one of them showed more likely', () => {
    const policed: NetworkCluster = { ...cluster, udp: { open: 0.02, policed: 0.98, blocked: 0 } };
    const { udp, path } = posteriorOf(light(), policed);
    expect(udp.policed).toBeGreaterThan(0.7);
    expect(path.udp.kind).toBe('policed');
    expect(posteriorOf(light(), cluster).udp.policed).toBeLessThan(0.03);
  });

  it('keep what they showed about UDP through any number of loads that show nothing about it', () => {
    let after: NetworkCluster = { ...cluster, udp: { open: 0.1, policed: 0.9, blocked: 0 } };
    for (let load = 0; load < 20; load++) after = learnNetwork(after, light(), NOW_MS);
    expect(after.udp.policed).toBeGreaterThan(0.7);
    let open = cluster;
    for (let load = 0; load < 20; load++) open = learnNetwork(open, light(), NOW_MS);
    expect(open.udp.policed).toBeLessThan(0.03);
  });

  it.each([0.7, 1])('do not hide a policer of %s Mbit/s from a page that came over QUIC alone', (mbps) => {
    const path = { ...DSL, downBps: 60e6, queueBytes: 800_000 };
    const loadOf = (page: number, protocol: 'h2' | 'h3', udp: NetworkPath['udp']) => {
      const graph = randomPage(page);
      const all = Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
      return recordLoad(graph, { ...path, udp }, randomServers(graph, page), all);
    };
    const policed = { kind: 'policed', bps: mbps * 1e6 } as const;
    for (const page of [9, 10, 11]) {
      let fast = learnNetwork(null, loadOf(page, 'h2', policed), NOW_MS);
      fast = learnNetwork(fast, loadOf(page, 'h2', policed), NOW_MS);
      expect(posteriorOf(loadOf(page, 'h3', policed), fast).udp.policed).toBeGreaterThan(0.8);
      expect(posteriorOf(loadOf(page, 'h3', { kind: 'open' }), fast).udp.policed).toBeLessThan(0.02);
    }
  });

  it('do not hide a policer that begins on a network whose loads over QUIC were fast', () => {
    const path = { ...DSL, downBps: 60e6, queueBytes: 800_000 };
    const loadOf = (seed: number, udp: NetworkPath['udp']) => {
      const graph = randomPage(seed);
      const all = Object.fromEntries(graph.origins.map((origin) => [origin, 'h3' as const]));
      return recordLoad(graph, { ...path, udp }, randomServers(graph, seed), all, seed);
    };
    let known: NetworkCluster | null = null;
    for (const seed of [9, 10, 11]) known = learnNetwork(known, loadOf(seed, { kind: 'open' }), NOW_MS);
    expect(known!.udp.open).toBeGreaterThan(0.9);
    for (const seed of [9, 10, 11]) {
      const recording = loadOf(seed, { kind: 'policed', bps: 2e6 });
      expect(posteriorOf(recording, known).udp.policed).toBeGreaterThan(0.9);
      known = learnNetwork(known, recording, NOW_MS);
    }
    // One network all the time, which keeps its rate.
    expect(known!.loads).toBe(6);
    expect(Math.exp(known!.downBps.mean)).toBeGreaterThan(20e6);
  });

  it.each([
    [0.3, 2, 'h3'],
    [0.3, 2, 'mixed'],
    [2, 0.3, 'h3'],
    [2, 0.3, 'mixed'],
  ] as const)(
    'beside other UDP, with %s Mbit/s of a policer’s rate, yield to one with %s, %s',
    (before, after, protocol) => {
      const path = { ...DSL, downBps: 40e6, queueBytes: 750_000 };
      const graph = randomPage(9);
      const mixed = mixedAssignment(graph);
      const all = Object.fromEntries(graph.origins.map((origin) => [origin, 'h3' as const]));
      const loadOf = (mbps: number, assignment: typeof mixed, seed: number) => {
        const udp = { kind: 'policed', bps: mbps * 1e6 } as const;
        return recordLoad(graph, { ...path, udp }, randomServers(graph, 9), assignment, seed);
      };
      let known: NetworkCluster | null = null;
      for (const seed of [1, 2]) known = learnNetwork(known, loadOf(before, mixed, seed), NOW_MS);
      expect(Math.exp(known!.policedBps.mean) / (before * 1e6)).toBeCloseTo(1, 0);
      for (const seed of [3, 4])
        known = learnNetwork(known, loadOf(after, protocol === 'h3' ? all : mixed, seed), NOW_MS);
      expect(known!.udp.policed).toBeGreaterThan(0.9);
      expect(Math.exp(known!.policedBps.mean) / (after * 1e6)).toBeGreaterThan(0.75);
      expect(Math.exp(known!.policedBps.mean) / (after * 1e6)).toBeLessThan(1.35);
    },
  );

  it('leave a rate uncertain that was either a slow link’s or a policer’s', () => {
    const posterior = posteriorOf(heavy(1), null);
    const { densities } = posterior;
    const slow = LogDensity.logNormal(logGrid(1e5, 1e9, 60), 1e6, 0.2);
    const fast = LogDensity.logNormal(logGrid(1e5, 1e9, 60), 25e6, 0.2);
    const after = (policed: number) =>
      updateCluster(
        null,
        {
          ...posterior,
          densities: { ...densities, downBps: slow, downBpsPoliced: fast },
          udp: { open: 1 - policed, policed, blocked: 0 },
        },
        NOW_MS,
      ).downBps;
    expect(Math.exp(after(0).mean) / 1e6).toBeCloseTo(1, 1);
    expect(Math.exp(after(1).mean) / 25e6).toBeCloseTo(1, 1);
    expect(Math.exp(after(0.5).mean) / 5e6).toBeCloseTo(1, 1);
    expect(after(0.5).spread).toBeGreaterThan(1.5);
    expect(after(0).spread).toBeLessThan(0.3);
  });

  it('show the shortest of their round trips, until a day has passed', () => {
    const at = (rttMs: number, hours: number, before: NetworkCluster | null) => {
      const graph = randomPage(2);
      const recording = recordLoad(graph, { ...DSL, rttMs }, randomServers(graph, 2), mixedAssignment(graph));
      return learnNetwork(before, recording, NOW_MS + hours * HOUR_MS);
    };
    const near = at(35, 0, at(60, 0, null));
    expect(Math.exp(near.rttMs.mean)).toBeCloseTo(35, 0);
    expect(at(60, 1, near).rttMs).toEqual(near.rttMs);
    expect(Math.exp(at(60, 25, near).rttMs.mean)).toBeCloseTo(60, 0);
  });

  it('are counted, dated and plain data', () => {
    expect(cluster).toMatchObject({ loads: 3, updatedAtMs: NOW_MS - HOUR_MS });
    expect(parseCluster(JSON.parse(JSON.stringify(cluster)))).toEqual(cluster);
    const { lossBurst: _notLearned, ...older } = cluster;
    expect(parseCluster(older)).toEqual(older);
  });

  it('are not read from other data', () => {
    for (const value of [
      null,
      'x',
      {},
      { ...cluster, version: 2 },
      { ...cluster, loads: 0 },
      { ...cluster, downBps: { mean: Number.NaN, spread: 1 } },
      { ...cluster, downBps: { mean: 1e9, spread: 1 } },
      { ...cluster, loss: { mean: -5, spread: 0 } },
      { ...cluster, udp: { open: 2, policed: 0, blocked: 0 } },
      { ...cluster, updatedAtMs: Number.POSITIVE_INFINITY },
    ]) {
      expect(parseCluster(value)).toBeNull();
    }
  });

  it('from the future count as fresh', () => {
    const future = posteriorOf(light(), { ...cluster, updatedAtMs: NOW_MS + 1_000 * HOUR_MS });
    expect(width(future)).toBeCloseTo(width(posteriorOf(light(), { ...cluster, updatedAtMs: NOW_MS })), 6);
  });
});
