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
import { browserLoadMs } from '../../src/advise/browser-load.ts';
import { compressibleBodies, withCompressedBodies } from '../../src/advise/compression.ts';
import { documentOrigin } from '../../src/advise/document.ts';
import { GainMeter } from '../../src/advise/gain.ts';
import { headLinks } from '../../src/advise/head-links.ts';
import { type AdviceKind, IMPROVEMENTS } from '../../src/advise/improvements.ts';
import { withPreconnects } from '../../src/advise/late-origins.ts';
import { withPreloads } from '../../src/advise/late-resources.ts';
import { isProven } from '../../src/advise/proof.ts';
import { drawVisitors } from '../../src/advise/visitors.ts';
import { chromiumHar } from '../support/hars.ts';
import { pageOf, pathOf, ROUND_TRIPS_ONLY, serverOf } from '../support/pages.ts';

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

  it('the second flight on a later visit, by a start at the announced rate', () => {
    // 100 kB are 69 packets, 32 and 37. Of 100 ms each: the handshake, the request with the first flight, and the second flight. Pacing
    // spreads a flight over its round trip besides.
    const graph = pageOf([{ bytes: 100_000 }]);
    const gain = gainOf('start-rate', { graph });
    expect(gain).toBeGreaterThan(100 / 300);
    expect(gain).toBeLessThan(200 / 400);
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

  it('the handshakes of five connections and a second turn, by HTTP/2', () => {
    // TCP, TLS and the document: 300 ms. Over HTTP/1.1 its connection then takes three of nine files while five others open and take
    // one each, and one more takes the last: 400 ms. Over HTTP/2 all come at once: 100 ms.
    const files = Array.from({ length: 9 }, () => ({ bytes: 1_000, after: [0] }));
    const graph = pageOf([{ bytes: 1_000 }, ...files]);
    const server = { offers: { h1: true, h2: false, h3: false } };
    expect(gainOf('offer-h2', { graph, server })).toBeCloseTo(300 / 700, 3);
  });

  it("the redirect's handshakes and answer, by the page in its place", () => {
    const chain = pageOf([{ bytes: 300 }, { origin: 1, bytes: 1_000, after: [0] }], [A, B]);
    const [redirect, document] = chain.activities;
    const after = [{ ...document!.after[0]!, kind: 'redirect' as const }];
    const graph = { ...chain, url: `${B}/1`, activities: [redirect!, { ...document!, after }] };
    const server = { offers: TCP_ONLY };
    // Two times TCP, TLS and request become one.
    expect(gainOf('no-redirect', { graph, server })).toBeCloseTo(300 / 600, 3);
    expect(gainOf('no-redirect', { graph, server, at: B })).toBe(0);
    const possible = IMPROVEMENTS.find(({ kind }) => kind === 'no-redirect')!.isPossibleAt;
    const page = { recording: RECORDING, graph };
    expect([A, B].filter((origin) => possible(serverOf(origin), page))).toEqual([A]);
    const [first, ...others] = RECORDING.requests;
    const posted = { ...RECORDING, requests: [{ ...first!, method: 'POST' }, ...others] };
    expect(possible(serverOf(A), { recording: posted, graph })).toBe(false);
    const insecure = { ...graph, origins: ['http://a.test', B] };
    expect(possible(serverOf('http://a.test'), { ...page, graph: insecure })).toBe(false);
  });

  it("an application's time for the page, by a cache", () => {
    const slow = { ...small, activities: small.activities.map((each) => ({ ...each, thinkMs: 405 })) };
    const server = { offers: TCP_ONLY };
    expect(gainOf('page-cache', { graph: slow, server })).toBeCloseTo(400 / 705, 3);
    const possible = IMPROVEMENTS.find(({ kind }) => kind === 'page-cache')!.isPossibleAt;
    expect(possible(serverOf(A), { recording: RECORDING, graph: slow })).toBe(true);
    expect(possible(serverOf(B), { recording: RECORDING, graph: slow })).toBe(false);
    expect(possible(serverOf(A), { recording: RECORDING, graph: small })).toBe(false);
  });

  it('nothing where it is possible nowhere', () => {
    const graph = { ...small, activities: small.activities.map((each) => ({ ...each, thinkMs: 45 })) };
    const scenarios = [{ path: ROUND_TRIPS_ONLY, servers: [serverOf(A)], seed: 0 }];
    const meter = new GainMeter({ recording: RECORDING, graph }, [{ name: 'one', share: 1, scenarios }]);
    for (const improvement of IMPROVEMENTS) {
      expect(meter.measure([{ improvement, origins: new Set() }]), improvement.kind).toMatchObject({
        gain: 0,
        helps: 0,
      });
    }
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
  const savedOf = (changes: object, gzipBytes = new Map<string, number>()) =>
    compressibleBodies(
      { recording: { ...RECORDING, requests: [{ ...request, id: 0, ...changes }] }, gzipBytes },
      new Set([A]),
    );

  it('saves 70% of text that came as it is', () => {
    expect(savedOf({})).toEqual(new Map([[0, 7_000]]));
    const graph = withCompressedBodies(pageOf([{ bytes: 10_300 }, { bytes: 5_000 }]), savedOf({}));
    const sizes = graph.activities.map((each) => (each.kind === 'fetch' ? each.responseBytes : 0));
    expect(sizes).toEqual([3_300, 5_000]);
  });

  it('saves what gzip does where the body is known', () => {
    expect(savedOf({}, new Map([[`${A}/x.js`, 1_800]]))).toEqual(new Map([[0, 8_200]]));
    expect(savedOf({}, new Map([[`${A}/x.js`, 10_100]])).size).toBe(0);
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

describe('the head of a page', () => {
  // The document (0) names a script (1), which inserts another one (2) of another origin.
  const chain = pageOf(
    [{ bytes: 1_000 }, { bytes: 1_000, after: [0] }, { origin: 1, bytes: 1_000, after: [1] }],
    [A, B],
  );
  const graph: PageGraph = {
    ...chain,
    url: `${A}/0`,
    activities: chain.activities.map((activity) =>
      activity.kind === 'fetch' && activity.id > 0
        ? {
            ...activity,
            type: 'script' as const,
            after: activity.after.map((each) => ({
              ...each,
              kind: activity.id === 2 ? ('script' as const) : each.kind,
            })),
          }
        : activity,
    ),
  };
  const requests = graph.activities.map(({ id }) => ({
    ...RECORDING.requests[0]!,
    id,
    type: id === 0 ? ('document' as const) : ('script' as const),
    renderBlocking: false,
    urgency: 3,
    startMs: 300 * id,
    phases: { ...RECORDING.requests[0]!.phases, connectStartMs: 300 * id, responseStartMs: 300 * id + 200 },
  }));
  const page = { recording: { ...RECORDING, requests }, graph };
  const servers = [A, B].map((origin) => serverOf(origin, { offers: TCP_ONLY }));
  const loadMs = (of: PageGraph) => browserLoadMs(of, { path: ROUND_TRIPS_ONLY, servers, seed: 1 }, 'first');

  it('can announce what scripts ask for, and other origins', () => {
    expect(headLinks('preload', page)).toEqual([{ rel: 'preload', href: `${B}/2`, as: 'script' }]);
    expect(headLinks('preconnect', page)).toEqual([{ rel: 'preconnect', href: B }]);
  });

  it('saves the handshakes with an origin that are over when a script asks for it', () => {
    // TCP, TLS and request of the document, the script, then TCP, TLS and request of the other origin: 700 ms. Announced 10 ms after
    // the document's arrival, B's two round trips of handshakes end 110 ms after the script's.
    const preconnected = withPreconnects(graph, [{ origin: B, anonymous: false }]);
    expect(loadMs(graph)).toBeCloseTo(700, 0);
    expect(loadMs(preconnected)).toBeCloseTo(300 + 10 + 200 + 100, 0);
  });

  it('saves nothing where requests of another kind need another connection', () => {
    expect(loadMs(withPreconnects(graph, [{ origin: B, anonymous: true }]))).toBeCloseTo(700, 0);
  });

  it('lets a late script begin with the document, and run after what inserts it', () => {
    const preloaded = withPreloads(graph, [{ url: `${B}/2`, as: 'script' }]);
    expect(loadMs(preloaded)).toBeCloseTo(300 + 10 + 300, 0);
    const ran = { kind: 'compute', id: 3, requestId: 2, durationMs: 5, blocksLoad: true } as const;
    const after = [{ activity: 2, kind: 'execution', fraction: 1, source: 'inferred' }] as const;
    const run = withPreloads({ ...graph, activities: [...graph.activities, { ...ran, after: [...after] }] }, [
      { url: `${B}/2`, as: 'script' },
    ]);
    expect(run.activities[3]!.after.map(({ activity }) => activity)).toEqual([2, 1]);
  });

  it('announces no module, and nothing that goes without credentials', () => {
    const module = {
      ...page,
      recording: { ...page.recording, requests: requests.map((each) => ({ ...each, urgency: 1 })) },
    };
    expect(headLinks('preload', module)).toEqual([]);
    const anonymous = graph.activities.map((each) => (each.kind === 'fetch' ? { ...each, pool: 1 } : each));
    const other = { ...page, graph: { ...graph, activities: anonymous } };
    expect(headLinks('preload', other)).toEqual([]);
    expect(headLinks('preconnect', other)).toEqual([{ rel: 'preconnect', href: B, crossorigin: true }]);
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

  it('takes a stranger under a public suffix for no own host', () => {
    const renamed = (url: string) =>
      url.replace('//shop.test', '//www.shop.co.uk').replace('//cdn.test', '//cdn.adnetwork.co.uk');
    const requests = RECORDING.requests.map((each) => ({ ...each, url: renamed(each.url) }));
    const recording = { ...RECORDING, url: renamed(RECORDING.url), requests };
    expect(adviseServers([recording])).toMatchObject({
      owned: ['https://www.shop.co.uk'],
      needsHttps: false,
    });
  });

  it('weighs networks by their visitors and ranks by gain for effort', () => {
    const { advice } = adviseServers([RECORDING], { networks, ownHosts: ['cdn.test'], unproven: true });
    expect(advice.length).toBeGreaterThan(1);
    for (const { gain, networks: each } of advice) {
      expect(gain).toBeCloseTo(each[0]!.gain / 4 + (each[1]!.gain * 3) / 4, 12);
      expect(gain).toBeGreaterThanOrEqual(0.02);
    }
    const ranks = advice.map(({ gain, effort }) => gain / effort);
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    expect(
      adviseServers([RECORDING, RECORDING], { networks, ownHosts: ['cdn.test'], unproven: true }).advice,
    ).toEqual(advice);
  });

  it('of one kind gains the same alone, at the servers of all hosts', () => {
    const [, far] = networks;
    const list = adviseServers([RECORDING], {
      networks: [{ ...far!, share: 1 }],
      ownHosts: ['cdn.test'],
      unproven: true,
    });
    const { kind, gain } = list.advice[0]!;
    const alone = gainOfAdvice(RECORDING, kind, far!.path);
    // One network has 32 loads in either case.
    expect(alone).toBe(gain);
  });

  it('is only what most real loads have confirmed, unless the rest is asked for', () => {
    const asked = { networks, ownHosts: ['cdn.test'] };
    const proven = adviseServers([RECORDING], asked).advice;
    for (const { proof } of proven) expect(2 * proof.kept).toBeGreaterThan(proof.cells);
    const all = adviseServers([RECORDING], { ...asked, unproven: true }).advice;
    expect(all.filter(({ kind }) => isProven(kind))).toEqual(proven);
    expect(all.length).toBeGreaterThan(proven.length);
  });

  it('finds the document behind a redirect', () => {
    const graph = pageOf([{ bytes: 300 }, { origin: 1, bytes: 1_000, after: [0] }], [A, B]);
    expect(documentOrigin({ ...graph, url: `${B}/1` })).toBe(B);
  });

  it('has configuration for every kind that is configured', () => {
    const without = Object.entries(SERVER_SNIPPETS).filter(
      ([, snippets]) => Object.keys(snippets).length === 0,
    );
    expect(without.map(([kind]) => kind)).toEqual(['start-rate', 'priorities', 'one-origin']);
  });
});
