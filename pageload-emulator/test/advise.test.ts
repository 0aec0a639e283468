import {
  adviseServers,
  gainOfAdvice,
  type NetworkPath,
  type PageGraph,
  parseNetworks,
  parseRecording,
  SERVER_SNIPPETS,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { compressibleBodies, withCompressedBodies } from '../src/advise/compression.ts';
import { GainMeter } from '../src/advise/gain.ts';
import { type AdviceKind, documentOrigin, IMPROVEMENTS } from '../src/advise/improvements.ts';
import { drawVisitors } from '../src/advise/visitors.ts';
import { chromiumHar } from './hars.ts';
import { pageOf, pathOf, ROUND_TRIPS_ONLY, serverOf } from './pages.ts';

const RECORDING = parseRecording(JSON.stringify(chromiumHar()));
const A = 'https://a.test';
const B = 'https://b.test';
const TCP_ONLY = { h1: true, h2: true, h3: false };

interface Asked {
  graph: PageGraph;
  server?: Partial<ServerProfile>;
  path?: NetworkPath;
  at?: string;
}

/** What a change at one origin gains on one path, of which there are as many loads as seeds. */
function gainOf(kind: AdviceKind, { graph, server = {}, path = ROUND_TRIPS_ONLY, at = A }: Asked, seeds = 1) {
  const improvement = IMPROVEMENTS.find((each) => each.kind === kind)!;
  const servers = graph.origins.map((origin) => serverOf(origin, server));
  const scenarios = Array.from({ length: seeds }, (_, seed) => ({ path, servers, seed }));
  const meter = new GainMeter({ recording: RECORDING, graph }, [{ name: 'one', share: 1, scenarios }]);
  return meter.measure([{ improvement, origins: new Set([at]) }]).gain;
}

describe('a change gains', () => {
  const small = pageOf([{ bytes: 1_000 }]);

  it('the second flight, by a larger initial window', () => {
    // 30 kB are 21 packets, 10 and 11. Of 100 ms each: TCP, TLS, the request with the first flight, and the second flight.
    const graph = pageOf([{ bytes: 30_000 }]);
    expect(gainOf('initial-window', { graph, server: { offers: TCP_ONLY } })).toBeCloseTo(100 / 400, 3);
  });

  it('a round trip of TLS, by version 1.3', () => {
    // TCP, TLS 1.2 in two round trips, the request.
    const server = { offers: TCP_ONLY, tlsVersion: '1.2' } as const;
    expect(gainOf('tls-1.3', { graph: small, server })).toBeCloseTo(100 / 400, 3);
  });

  it('the handshake of TCP on a first visit, by an HTTPS record', () => {
    // TCP, TLS and request become QUIC's handshake and request.
    expect(gainOf('https-record', { graph: small })).toBeCloseTo(100 / 300, 3);
    // Alt-Svc comes too late for the only request.
    expect(gainOf('offer-h3', { graph: small, server: { offers: TCP_ONLY } })).toBe(0);
  });

  it("QUIC's handshake on a later visit, by early data", () => {
    expect(gainOf('early-data', { graph: small })).toBeCloseTo(100 / 200, 3);
  });

  it('a connection, by one origin', () => {
    const graph = pageOf([{ bytes: 1_000 }, { origin: 1, bytes: 1_000, after: [0] }], [A, B]);
    const server = { offers: TCP_ONLY };
    // Two times TCP, TLS and request become one, and a request.
    expect(gainOf('one-origin', { graph, server, at: B })).toBeCloseTo(200 / 600, 3);
  });

  it('what losses cost, by BBR', () => {
    const path = pathOf({ rttMs: 60, downBps: 50e6, loss: 0.02 });
    const asked = { graph: pageOf([{ bytes: 3e6 }]), server: { offers: TCP_ONLY } };
    expect(gainOf('bbr', { ...asked, path }, 8)).toBeGreaterThan(0.3);
  });

  it('what a policer costs, by HTTP/2 alone', () => {
    const path = pathOf({ udp: { kind: 'policed', bps: 1e6 } });
    const graph = pageOf([
      { bytes: 1_000 },
      ...Array.from({ length: 8 }, () => ({ bytes: 100_000, after: [0] })),
    ]);
    const server = { h3Discovery: 'https-record' } as const;
    expect(gainOf('withdraw-h3', { graph, path, server })).toBeGreaterThan(0.5);
    const blocked = pathOf({ udp: { kind: 'blocked' } });
    expect(gainOf('withdraw-h3', { graph, path: blocked, server })).toBe(0);
  });
});

describe('compression', () => {
  const request = {
    ...RECORDING.requests[0]!,
    url: `${A}/x.js`,
    type: 'script' as const,
    bodyBytes: 10_000,
    decodedBytes: 10_000,
  };
  const savedOf = (changes: object) =>
    compressibleBodies({ ...RECORDING, requests: [{ ...request, id: 0, ...changes }] }, new Set([A]));

  it('saves 70% of text that came as it is', () => {
    expect(savedOf({})).toEqual(new Map([[0, 7_000]]));
    const graph = withCompressedBodies(pageOf([{ bytes: 10_300 }, { bytes: 5_000 }]), savedOf({}));
    const sizes = graph.activities.map((each) => (each.kind === 'fetch' ? each.responseBytes : 0));
    expect(sizes).toEqual([3_300, 5_000]);
  });

  it.each([
    ['was compressed', { bodyBytes: 3_000 }],
    ['is no text', { type: 'image' }],
    ['is of unknown size', { decodedBytes: null }],
    ['fits into a packet', { bodyBytes: 1_000, decodedBytes: 1_000 }],
    ['came from a cache', { fromCache: true }],
    ["is another origin's", { url: `${B}/x.js` }],
  ])('is not tried on what %s', (_, changes) => {
    expect(savedOf(changes).size).toBe(0);
  });
});

describe('visitors of a network', () => {
  it('have its figures, give or take a tenth', () => {
    const path = pathOf({ rttMs: 100 });
    const [first, ...others] = drawVisitors(path, [], 50);
    expect(first!.path).toEqual(path);
    const logs = others.map((scenario) => Math.log(scenario.path.rttMs / 100));
    const deviation = Math.sqrt(logs.reduce((sum, log) => sum + log ** 2, 0) / logs.length);
    expect(deviation).toBeGreaterThan(0.07);
    expect(deviation).toBeLessThan(0.13);
    expect(drawVisitors(path, [], 50)).toEqual([first, ...others]);
  });
});

describe('advice', () => {
  const networks = parseNetworks(
    JSON.stringify({
      near: { rttMs: 10, downMbps: 100, upMbps: 100, loss: 0, visitors: 1 },
      far: { rttMs: 300, downMbps: 100, upMbps: 100, loss: 0, visitors: 3 },
    }),
  );

  it("is for the page's own site, and for hosts that are named", () => {
    expect(adviseServers([RECORDING]).owned).toEqual(['https://shop.test']);
    const { owned } = adviseServers([RECORDING], { ownHosts: ['cdn.test'] });
    expect(owned).toEqual(['https://shop.test', 'https://cdn.test']);
  });

  it('weighs networks by their visitors and ranks by gain for effort', () => {
    const { advice } = adviseServers([RECORDING], { networks, ownHosts: ['cdn.test'] });
    expect(advice.length).toBeGreaterThan(1);
    for (const { gain, networks: each } of advice) {
      expect(gain).toBeCloseTo(each[0]!.gain / 4 + (each[1]!.gain * 3) / 4, 12);
      expect(gain).toBeGreaterThanOrEqual(0.02);
    }
    const ranks = advice.map(({ gain, effort }) => gain / effort);
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    expect(adviseServers([RECORDING, RECORDING], { networks, ownHosts: ['cdn.test'] }).advice).toEqual(
      advice,
    );
  });

  it('of one kind gains the same alone, at the servers of all hosts', () => {
    const [, far] = networks;
    const list = adviseServers([RECORDING], { networks: [{ ...far!, share: 1 }], ownHosts: ['cdn.test'] });
    const { kind, gain } = list.advice[0]!;
    const alone = gainOfAdvice(RECORDING, kind, far!.path);
    // One network has 32 loads in either case.
    expect(alone).toBe(gain);
  });

  it('finds the document behind a redirect', () => {
    const graph = pageOf([{ bytes: 300 }, { origin: 1, bytes: 1_000, after: [0] }], [A, B]);
    expect(documentOrigin({ ...graph, url: `${B}/1` })).toBe(B);
  });

  it('has configuration for every kind that is configured', () => {
    const without = Object.entries(SERVER_SNIPPETS).filter(
      ([, snippets]) => Object.keys(snippets).length === 0,
    );
    expect(without.map(([kind]) => kind)).toEqual(['priorities', 'one-origin']);
  });
});
