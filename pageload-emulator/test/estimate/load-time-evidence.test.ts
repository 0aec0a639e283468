import type { NetworkPath } from '@hopwise/pageload-emulator';
import { buildGraph } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { loadTimeLikelihood } from '../../src/estimate/load-time-evidence.ts';
import { pathOf, uniform } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const OPEN = pathOf({ rttMs: 40, downBps: 30e6, queueBytes: 500_000 });
const POLICED: NetworkPath = { ...OPEN, udp: { kind: 'policed', bps: 1e6 } };

/** The likelihoods of an open and of a policed path, for a load on `path` over HTTP/3. */
function likelihoodsOn(path: NetworkPath, change: { pltMs?: null } = {}) {
  const page = randomPage(4);
  const servers = randomServers(page, 4).map((server) => ({
    ...server,
    offers: { ...server.offers, h3: true },
  }));
  const recording = { ...recordLoad(page, path, servers, uniform(page, 'h3')), ...change };
  const graph = buildGraph(recording);
  const likelihood = (each: NetworkPath) => loadTimeLikelihood(recording, graph, servers, [each, each]);
  return { open: likelihood(OPEN), policed: likelihood(POLICED) };
}

describe('the likelihood of a load time', () => {
  it('is higher for the path that the load took', () => {
    const onPoliced = likelihoodsOn(POLICED);
    expect(onPoliced.policed).toBeGreaterThan(0.5);
    expect(onPoliced.policed! / onPoliced.open!).toBeGreaterThan(10);
    const onOpen = likelihoodsOn(OPEN);
    expect(onOpen.open).toBeGreaterThan(0.5);
    expect(onOpen.open! / onOpen.policed!).toBeGreaterThan(10);
  });

  it('is unknown without a load time', () => {
    expect(likelihoodsOn(OPEN, { pltMs: null })).toEqual({ open: null, policed: null });
  });
});
