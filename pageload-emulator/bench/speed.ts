/**
 * How long an emulation takes: medians of warm runs. `node pageload-emulator/bench/speed.ts` (Node 24) after a build.
 */

import { choose } from '../dist/choose/choose.js';
import { CHROMIUM_COSTS } from '../dist/client/client-costs.js';
import { emulate, type NetworkPath, type PageGraph, PROTOCOLS, type ServerProfile } from '../dist/index.js';
import { PaintModel } from '../dist/paint-times.js';

const ROUNDS = 41;

/** A page whose scripts fetch further files: a seventh of the requests wait for the document, the rest for one before them. */
function syntheticPage(requests: number, origins: number): PageGraph {
  return {
    url: 'https://origin0.example/',
    client: CHROMIUM_COSTS,
    origins: Array.from({ length: origins }, (_, index) => `https://origin${index}.example`),
    activities: Array.from({ length: requests }, (_, id) => ({
      kind: 'fetch' as const,
      id,
      requestId: id,
      url: `https://origin${id % origins}.example/${id}`,
      origin: id % origins,
      type: id === 0 ? ('document' as const) : ('image' as const),
      requestBytes: 500,
      // 1 to 40 kB, 13 kB on average.
      responseBytes: 1_000 + ((id * 7_919) % 13_000) * (id % 9 === 0 ? 3 : 1),
      blocksLoad: true,
      renderBlocking: id === 0,
      urgency: id % 4,
      incremental: id % 4 === 3,
      after:
        id === 0
          ? []
          : [
              {
                activity: id % 7 === 0 ? 0 : id >> 3,
                kind: 'parser' as const,
                fraction: 1,
                source: 'inferred' as const,
              },
            ],
      delayMs: id % 5,
    })),
  };
}

const path: NetworkPath = {
  rttMs: 40,
  downBps: 20e6,
  upBps: 5e6,
  loss: 0.002,
  lossBurst: 1,
  queueBytes: 100_000,
  udp: { kind: 'open' },
};

function servers(graph: PageGraph): ServerProfile[] {
  return graph.origins.map((origin, index) => ({
    origin,
    extraRttMs: index % 5,
    thinkMs: 5,
    tcp: { initialWindow: 10, congestionControl: 'cubic' },
    quic: { initialWindow: 32, congestionControl: 'reno' },
    tlsVersion: '1.3',
    offers: { h1: true, h2: true, h3: true },
  }));
}

function medianMs(run: () => void): number {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    run();
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[ROUNDS >> 1]!;
}

for (const [requests, origins] of [
  [100, 8],
  [500, 20],
  [2_000, 40],
  [5_000, 40],
] as const) {
  const graph = syntheticPage(requests, origins);
  const profiles = servers(graph);
  let all = 0;
  const parts = PROTOCOLS.map((protocol) => {
    const assignment = Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
    let events = 0;
    const ms = medianMs(() => {
      events = emulate(graph, path, profiles, assignment, { seed: 1 }).events;
    });
    all += ms;
    return `${protocol} ${ms.toFixed(2)} ms (${events} events)`;
  });
  console.log(
    `${requests} requests, ${origins} origins: ${all.toFixed(2)} ms for all three; ${parts.join(', ')}`,
  );
}

const graph = syntheticPage(500, 20);
const profiles = servers(graph);
const scenarios = Array.from({ length: 12 }, (_, index) => ({ path, servers: profiles, seed: index + 1 }));
const unpainted = { requests: [], firstContentfulPaintMs: null, largestContentfulPaintMs: null };
const ms = medianMs(() =>
  choose({
    graph,
    paint: new PaintModel(unpainted, graph),
    path,
    servers: profiles,
    scenarios: (count) => scenarios.slice(0, count),
    seeds: scenarios.length,
    thorough: true,
  }),
);
console.log(
  `predicting at 500 requests, 20 origins, 12 scenarios, with a thorough search: ${ms.toFixed(0)} ms`,
);
