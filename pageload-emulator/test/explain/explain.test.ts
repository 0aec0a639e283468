import {
  type Assignment,
  explain,
  type KnownNetwork,
  type LoadTime,
  PROTOCOLS,
  type ProtocolExplanation,
  parseRecording,
  predict,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { holdupSentence } from '../../src/explain/cause-sentences.ts';
import { english } from '../../src/explain/sentences/english.ts';
import { traceLoad } from '../../src/trace/traced-load.ts';
import { worstHoldup } from '../../src/trace/worst-holdup.ts';
import { generatedPage, NETWORKS } from '../support/generated-pages.ts';
import { chromiumHar } from '../support/hars.ts';
import { pageOf, pathOf, ROUND_TRIPS_ONLY, serverOf, uniform } from '../support/pages.ts';

const SERVERS = [serverOf('https://a.test')];

describe('critical path', () => {
  // A document, then a script that it names, then an image that the script requests 30 ms later.
  const graph = pageOf([
    { bytes: 5_000 },
    { bytes: 5_000, after: [0], urgency: 1 },
    { bytes: 5_000, after: [1], delayMs: 30 },
    // Ends long before the load event.
    { bytes: 1_000, after: [0] },
  ]);
  const scenario = { path: ROUND_TRIPS_ONLY, servers: SERVERS, seed: 1 };

  it('is the chain that ended last, and its causes add up to the load time', () => {
    const { load, path, causes } = traceLoad(graph, scenario, uniform(graph, 'h2'));
    // TCP 100, TLS 100, three round trips of 100 and a delay of 30.
    expect(load.pltMs).toBeCloseTo(530, 3);
    expect(path.map(({ activity }) => activity)).toEqual([0, 1, 2]);
    expect(causes.connect).toBeCloseTo(200, 3);
    expect(causes.roundTrip).toBeCloseTo(300, 3);
    expect(causes.page).toBeCloseTo(30, 3);
    expect(causes.turn + causes.server + causes.loss + causes.script).toBe(0);
  });

  it('shows the handshake round trip that HTTP/3 saves', () => {
    const { load, causes } = traceLoad(graph, scenario, uniform(graph, 'h3'));
    expect(load.pltMs).toBeCloseTo(430, 3);
    expect(causes.connect).toBeCloseTo(100, 3);
  });

  it('shows think time as the server’s', () => {
    const servers = [serverOf('https://a.test', { thinkMs: 40 })];
    const { causes } = traceLoad(graph, { ...scenario, servers }, uniform(graph, 'h2'));
    expect(causes.server).toBeCloseTo(120, 3);
  });

  it('shows waiting for one of six busy connections as the turn', () => {
    // Seven images at once on six connections: the last one waits for a round trip.
    const seven = pageOf([
      { bytes: 500 },
      ...Array.from({ length: 7 }, () => ({ bytes: 500, after: [0], urgency: 1 })),
    ]);
    const { load, causes } = traceLoad(seven, scenario, uniform(seven, 'h1'));
    const { load: h2 } = traceLoad(seven, scenario, uniform(seven, 'h2'));
    expect(load.pltMs).toBeGreaterThan(h2.pltMs + 90);
    expect(causes.turn + causes.connect).toBeGreaterThan(290);
  });

  it('has no gaps on any page and network', () => {
    for (let seed = 1; seed <= 6; seed++) {
      const { graph: page, servers } = generatedPage(seed, 3, 40);
      for (const path of Object.values(NETWORKS)) {
        for (const protocol of ['h1', 'h2', 'h3'] as const) {
          const traced = traceLoad(page, { path, servers, seed }, uniform(page, protocol));
          let atMs = 0;
          for (const { fromMs, toMs, causes } of traced.path) {
            expect(fromMs).toBe(atMs);
            const sum = Object.values(causes).reduce((a, b) => a + b, 0);
            expect(sum).toBeCloseTo(toMs - fromMs, 6);
            expect(Math.min(0, ...Object.values(causes))).toBe(0);
            atMs = toMs;
          }
          expect(atMs).toBe(traced.load.pltMs);
        }
      }
    }
  });
});

describe('lost packets', () => {
  const graph = pageOf([
    { bytes: 2_000 },
    ...Array.from({ length: 30 }, () => ({ bytes: 4_000, after: [0] })),
  ]);
  const path = pathOf({ loss: 0.03, rttMs: 80 });
  const loads = (protocol: 'h2' | 'h3') =>
    Array.from({ length: 10 }, (_, seed) =>
      traceLoad(graph, { path, servers: SERVERS, seed }, uniform(graph, protocol)),
    );

  it('hold up other responses on HTTP/2, and none on HTTP/3', () => {
    const held = (protocol: 'h2' | 'h3') =>
      loads(protocol).map(({ trace }) => worstHoldup(graph, trace)?.held.length ?? 0);
    expect(Math.max(...held('h2'))).toBeGreaterThan(5);
    expect(Math.max(...held('h3'))).toBe(0);
  });

  it('are described in words', () => {
    const worst = loads('h2')
      .map(({ trace }) => worstHoldup(graph, trace))
      .find((found) => found !== null && found.held.length > 1)!;
    expect(holdupSentence(worst, 'h2', english)).toBe(
      `${worst.held.length} small files from a.test wait behind one lost packet on HTTP/2, up to ${Math.round(worst.longestMs)} ms.`,
    );
    // The repair takes at least a round trip, for most of which the others wait.
    expect(worst.longestMs).toBeGreaterThan(40);
    expect(worst.held).not.toContain(worst.of);
  });
});

describe('explanation', () => {
  const recording = parseRecording(chromiumHar());
  const network: KnownNetwork = {
    rttMs: 100,
    downBps: 20e6,
    upBps: 5e6,
    loss: 0,
    queueBytes: 250_000,
    udp: { kind: 'open' },
  };

  it('covers each protocol, with connections that carried every request', () => {
    const { protocols, page } = explain(recording, { network });
    const { emulated, protocols: predicted } = predict(recording, { network });
    for (const protocol of PROTOCOLS) {
      const explained = protocols[protocol] as ProtocolExplanation;
      expect(explained.explainedPltMs).toBe((emulated.protocols[protocol] as LoadTime).pltMs);
      expect(explained.pltMs).toBe((predicted[protocol] as LoadTime).pltMs);
      const causes = Object.values(explained.causes).reduce((a, b) => a + b, 0);
      expect(causes).toBeCloseTo(explained.explainedPltMs, 6);
      expect(explained.connections.reduce((sum, { requests }) => sum + requests, 0)).toBe(page.requests);
      expect(explained.connections.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(page.bytes);
      expect(explained.story).toContain('No packet is lost.');
      expect(explained.losslessPltMs).toBeNull();
    }
    const { h1, h2 } = protocols as Record<'h1' | 'h2', ProtocolExplanation>;
    expect(h1.connections.length).toBeGreaterThanOrEqual(h2.connections.length);
    expect(h2.connections).toHaveLength(2);
  });

  it('states the cost of losses', () => {
    const { protocols } = explain(recording, { network: { ...network, loss: 0.1 } });
    const { h2 } = protocols as { h2: ProtocolExplanation };
    expect(h2.losslessPltMs).toBeLessThan(h2.explainedPltMs);
    expect(h2.story.join(' ')).toMatch(
      /lost at random: without (it|them) the load would take \d+ ms, \d+ ms less\./,
    );
  });

  it('leaves out a protocol that the network does not carry', () => {
    const { protocols } = explain(recording, { network: { ...network, udp: { kind: 'blocked' } } });
    expect(protocols.h3).toEqual({ unavailable: 'UDP is blocked on this network' });
  });

  it('is plain JSON', () => {
    const explanation = explain(recording, { network });
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
  });
});

it('uses the assignment that it is given', () => {
  const graph = pageOf(
    [{ bytes: 500 }, { bytes: 500, origin: 1, after: [0] }],
    ['https://a.test', 'https://b.test'],
  );
  const servers = graph.origins.map((origin) => serverOf(origin));
  const mixed: Assignment = { 'https://a.test': 'h2', 'https://b.test': 'h3' };
  const { causes } = traceLoad(graph, { path: ROUND_TRIPS_ONLY, servers, seed: 1 }, mixed);
  // Two round trips for a.test's handshakes and one for b.test's.
  expect(causes.connect).toBeCloseTo(300, 3);
});
